namespace tinyframe {
typedef long long long2 __attribute__((vector_size(16), aligned(8)));
typedef unsigned long long ulong2 __attribute__((vector_size(16), aligned(8)));
static inline __device__ long2 max_long2(long2 a, long2 b) { return (b > a) ? b : a; }
extern "C" __global__ void __launch_bounds__(1) E_32_2(long long* __restrict__ data0, const long long* __restrict__ data1, const long long* __restrict__ data2) {
  for (int ridx0 = 0; ridx0 < 32; ridx0++) {
    int alu0 = ridx0 * 2;
    long2 val0 = *(long2*)(data1 + alu0);
    long2 val1 = *(long2*)(data2 + alu0);
    *(long2*)(data0 + alu0) = max_long2((long2)(((ulong2)val0) * 3ull), val1);
  }
}
}
