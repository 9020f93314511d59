#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
[[max_total_threads_per_threadgroup(1)]] kernel void E_100(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]], constant int& var_n [[buffer(2)]]) {
  for (int ridx0 = 0; ridx0 < var_n; ridx0++) {
    float val0 = data1[ridx0];
    data0[ridx0] = val0 * 2.0f;
  }
}
