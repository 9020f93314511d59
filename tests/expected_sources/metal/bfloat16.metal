#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
[[max_total_threads_per_threadgroup(1)]] kernel void E_64(device ushort* data0 [[buffer(0)]], device const ushort* data1 [[buffer(1)]], uint3 gid [[threadgroup_position_in_grid]]) {
  int gidx0 = gid.x;
  ushort val0 = data1[gidx0];
  float alu0 = as_type<float>(((uint)val0) << 16u) * 3.0f;
  uint alu1 = as_type<uint>(alu0);
  data0[gidx0] = ((alu0 != alu0) ? (alu1 | 4194304u) : ((alu1 + 32767u) + ((alu1 >> 16u) & 1u))) >> 16u;
}
