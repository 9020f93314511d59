namespace tinyframe {
extern "C" __global__ void __launch_bounds__(1) E_100(float* __restrict__ data0, const float* __restrict__ data1, const int var_n) {
  for (int ridx0 = 0; ridx0 < var_n; ridx0++) {
    float val0 = data1[ridx0];
    data0[ridx0] = val0 * 2.0f;
  }
}
}
