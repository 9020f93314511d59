#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
[[max_total_threads_per_threadgroup(1)]] kernel void E_64(device long* data0 [[buffer(0)]], device const long* data1 [[buffer(1)]], device const long* data2 [[buffer(2)]], uint3 gid [[threadgroup_position_in_grid]]) {
  int gidx0 = gid.x;
  long val0 = data2[gidx0];
  bool alu0 = (val0 == 0l) | (val0 == -1l);
  long val1 = data1[gidx0];
  ulong alu1 = as_type<ulong>(val1) * 3ul;
  long alu2 = alu0 ? 1l : val0;
  ulong alu3 = as_type<ulong>(as_type<long>(alu1) / alu2);
  long alu4 = as_type<long>(alu1 - alu3 * as_type<ulong>(alu2));
  long alu5 = alu0 ? as_type<long>(alu1 * as_type<ulong>(val0)) : as_type<long>(alu3 - as_type<ulong>((long)(((alu4 ^ val0) < 0l) & (alu4 != 0l))));
  data0[gidx0] = alu5;
}
