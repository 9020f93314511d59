namespace tinyframe {
typedef float float4 __attribute__((vector_size(16), aligned(4)));
extern "C" __global__ void __launch_bounds__(1) E_64_2_4(float* __restrict__ data0, const float* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 8;
  #pragma unroll
  for (int ridx1 = 0; ridx1 < 2; ridx1++) {
    float4 val0 = float4{ data1[gidx0 + ridx1 * 256 + 0 * 64], data1[gidx0 + ridx1 * 256 + 1 * 64], data1[gidx0 + ridx1 * 256 + 2 * 64], data1[gidx0 + ridx1 * 256 + 3 * 64] };
    *(float4*)(data0 + alu0 + ridx1 * 4) = val0;
  }
}
}
