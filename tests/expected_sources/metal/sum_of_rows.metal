#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
static inline int min_int(int a, int b) { return b < a ? b : a; }
[[max_total_threads_per_threadgroup(32)]] kernel void r_9_8_32(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]], uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  int lidx0 = lid.x;
  int gidx0 = gid.x;
  threadgroup float panel0[32];
  int alu0 = gidx0 * 250 + lidx0;
  float acc0 = 0.0f;
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    int alu1 = ridx1 * 32;
    int alu2 = min_int(alu1, 218);
    float val0 = data1[alu0 + alu2];
    acc0 = acc0 + ((lidx0 < alu1 - alu2) ? 0.0f : val0);
  }
  panel0[lidx0] = acc0;
  float acc1 = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int ridx3 = 0; ridx3 < 32; ridx3++) {
    float val1 = panel0[ridx3];
    acc1 = acc1 + val1;
  }
  if (lidx0 < 1) data0[gidx0] = acc1;
}
