#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
static inline float4 max_float4(float4 a, float4 b) { return select(a, b, (b > a) | (b != b)); }
[[max_total_threads_per_threadgroup(64)]] kernel void E_4_64_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]], device const float* data2 [[buffer(2)]], uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  int gidx0 = gid.x;
  int lidx0 = lid.x;
  int alu0 = gidx0 * 256 + lidx0 * 4;
  float4 val0 = float4(*(device packed_float4*)(data1 + alu0));
  float4 val1 = float4(*(device packed_float4*)(data2 + alu0));
  *(device packed_float4*)(data0 + alu0) = max_float4(val0 * float4(2.0f) + val1, float4(0.0f));
}
