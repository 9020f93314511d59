#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
[[max_total_threads_per_threadgroup(1)]] kernel void E_16_4(device half* data0 [[buffer(0)]], device const half* data1 [[buffer(1)]], device const half* data2 [[buffer(2)]], uint3 gid [[threadgroup_position_in_grid]]) {
  int gidx0 = gid.x;
  int alu0 = gidx0 * 4;
  half4 val0 = half4(*(device packed_half4*)(data1 + alu0));
  half4 val1 = half4(*(device packed_half4*)(data2 + alu0));
  *(device packed_half4*)(data0 + alu0) = half4(float4(val0) * float4(val1));
}
