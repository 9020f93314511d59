extern "C" __global__ void __launch_bounds__(1) E_64_2_4(float* __restrict__ data0, const float* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 8;
  #pragma unroll
  for (int ridx1 = 0; ridx1 < 2; ridx1++) {
    int alu1 = gidx0 + ridx1 * 256;
    float val0 = data1[alu1];
    float val1 = data1[alu1 + 64];
    float val2 = data1[alu1 + 128];
    float val3 = data1[alu1 + 192];
    *reinterpret_cast<float4*>(data0 + alu0 + ridx1 * 4) = make_float4(val0, val1, val2, val3);
  }
}
