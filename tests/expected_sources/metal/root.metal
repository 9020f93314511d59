#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
[[max_total_threads_per_threadgroup(1)]] kernel void E_16_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]], device const float* data2 [[buffer(2)]]) {
  for (int ridx0 = 0; ridx0 < 16; ridx0++) {
    int alu0 = ridx0 * 4;
    float4 val0 = float4(*(device packed_float4*)(data1 + alu0));
    float4 val1 = float4(*(device packed_float4*)(data2 + alu0));
    *(device packed_float4*)(data0 + alu0) = precise::sqrt(val0) + trunc(val1);
  }
}
