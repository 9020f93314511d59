static __device__ inline long long max_long(long long a, long long b) { return b > a ? b : a; }
extern "C" __global__ void __launch_bounds__(1) E_32_2(long long* __restrict__ data0, const long long* __restrict__ data1, const long long* __restrict__ data2) {
  for (int ridx0 = 0; ridx0 < 32; ridx0++) {
    int alu0 = ridx0 * 2;
    longlong2 val0 = *reinterpret_cast<const longlong2*>(data1 + alu0);
    longlong2 val1 = *reinterpret_cast<const longlong2*>(data2 + alu0);
    *reinterpret_cast<longlong2*>(data0 + alu0) = make_longlong2(max_long((long long)(((unsigned long long)val0.x) * 3ull), val1.x), max_long((long long)(((unsigned long long)val0.y) * 3ull), val1.y));
  }
}
