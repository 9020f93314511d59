#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
[[max_total_threads_per_threadgroup(1)]] kernel void E_64_2_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]], uint3 gid [[threadgroup_position_in_grid]]) {
  int gidx0 = gid.x;
  int alu0 = gidx0 * 8;
  for (int ridx1 = 0; ridx1 < 2; ridx1++) {
    float4 val0 = float4(data1[gidx0 + ridx1 * 256 + 0 * 64], data1[gidx0 + ridx1 * 256 + 1 * 64], data1[gidx0 + ridx1 * 256 + 2 * 64], data1[gidx0 + ridx1 * 256 + 3 * 64]);
    *(device packed_float4*)(data0 + alu0 + ridx1 * 4) = val0;
  }
}
