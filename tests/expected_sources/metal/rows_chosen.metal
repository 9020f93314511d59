#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
[[max_total_threads_per_threadgroup(1)]] kernel void E_8_4(device float* data0 [[buffer(0)]], device const int* data1 [[buffer(1)]], device const float* data2 [[buffer(2)]], uint3 gid [[threadgroup_position_in_grid]]) {
  int gidx0 = gid.x;
  int alu0 = gidx0 * 4;
  int val0 = data1[gidx0];
  int alu1 = (val0 < 0) ? as_type<int>(as_type<uint>(val0) + 50u) : val0;
  int alu2 = ((alu1 < 50) & (alu1 >= 0)) ? alu1 : -1;
  uint alu3 = as_type<uint>(alu2) * 4u;
  bool alu4 = (alu2 < 50) & (alu2 >= 0);
  for (int ridx1 = 0; ridx1 < 4; ridx1++) {
    float val1 = alu4 ? data2[as_type<int>(alu3 + as_type<uint>(ridx1))] : 0.0f;
    data0[alu0 + ridx1] = alu4 ? val1 : NAN;
  }
}
