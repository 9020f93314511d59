#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
static inline long2 max_long2(long2 a, long2 b) { return select(a, b, (b > a)); }
[[max_total_threads_per_threadgroup(1)]] kernel void E_32_2(device long* data0 [[buffer(0)]], device const long* data1 [[buffer(1)]], device const long* data2 [[buffer(2)]]) {
  for (int ridx0 = 0; ridx0 < 32; ridx0++) {
    int alu0 = ridx0 * 2;
    long2 val0 = long2(*(device packed_long2*)(data1 + alu0));
    long2 val1 = long2(*(device packed_long2*)(data2 + alu0));
    *(device packed_long2*)(data0 + alu0) = max_long2(as_type<long2>(as_type<ulong2>(val0) * ulong2(3ul)), val1);
  }
}
