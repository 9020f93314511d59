#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
[[max_total_threads_per_threadgroup(1)]] kernel void E_16_4(device bool* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]], device const float* data2 [[buffer(2)]], device const bool* data3 [[buffer(3)]], device const float* data4 [[buffer(4)]]) {
  for (int ridx0 = 0; ridx0 < 16; ridx0++) {
    int alu0 = ridx0 * 4;
    float4 val0 = float4(*(device packed_float4*)(data1 + alu0));
    float4 val1 = float4(*(device packed_float4*)(data2 + alu0));
    bool4 val2 = bool4((data3 + alu0)[0], (data3 + alu0)[1], (data3 + alu0)[2], (data3 + alu0)[3]);
    float4 val3 = float4(*(device packed_float4*)(data4 + alu0));
    { bool4 x = ((val0 < val1) & val2) | (float4(0.0f) < val3); (data0 + alu0)[0] = x.x; (data0 + alu0)[1] = x.y; (data0 + alu0)[2] = x.z; (data0 + alu0)[3] = x.w; }
  }
}
