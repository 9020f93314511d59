#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
[[max_total_threads_per_threadgroup(1)]] kernel void E_6_8(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]], uint3 gid [[threadgroup_position_in_grid]]) {
  int gidx0 = gid.x;
  int gidx1 = gid.y;
  float val0 = ((gidx0 < 6) & (gidx1 >= 1)) ? data1[gidx0 + gidx1 * 6 - 6] : 0.0f;
  data0[gidx0 + gidx1 * 8] = val0;
}
