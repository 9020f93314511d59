static __device__ inline int min_int(int a, int b) { return b < a ? b : a; }
extern "C" __global__ void __launch_bounds__(32) r_9_8_32(float* __restrict__ data0, const float* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  int gidx0 = blockIdx.x;
  __shared__ __align__(16) float panel0[32];
  int alu0 = gidx0 * 250 + lidx0;
  float acc0 = 0.0f;
  #pragma unroll
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    int alu1 = ridx1 * 32;
    int alu2 = min_int(alu1, 218);
    float val0 = data1[alu0 + alu2];
    acc0 = acc0 + ((lidx0 < alu1 - alu2) ? 0.0f : val0);
  }
  panel0[lidx0] = acc0;
  float acc1 = 0.0f;
  __syncthreads();
  for (int ridx3 = 0; ridx3 < 32; ridx3++) {
    float val1 = panel0[ridx3];
    acc1 = acc1 + val1;
  }
  if (lidx0 < 1) data0[gidx0] = acc1;
}
