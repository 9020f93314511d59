namespace tinyframe {
extern "C" __global__ void __launch_bounds__(1) E_6_8(float* __restrict__ data0, const float* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int gidx1 = blockIdx.y;
  float val0 = ((gidx0 < 6) & (gidx1 >= 1)) ? data1[gidx0 + gidx1 * 6 - 6] : 0;
  data0[gidx0 + gidx1 * 8] = val0;
}
}
