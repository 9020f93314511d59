extern "C" __global__ void __launch_bounds__(1) E_64(long long* __restrict__ data0, const long long* __restrict__ data1, const long long* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  long long val0 = data2[gidx0];
  bool alu0 = (val0 == 0ll) | (val0 == -1ll);
  long long val1 = data1[gidx0];
  unsigned long long alu1 = ((unsigned long long)val1) * 3ull;
  long long alu2 = (long long)alu1;
  long long alu3 = alu0 ? 1ll : val0;
  long long alu4 = alu2 % alu3;
  long long alu5 = alu0 ? ((long long)(alu1 * ((unsigned long long)val0))) : ((long long)(((unsigned long long)(alu2 / alu3)) - ((unsigned long long)((long long)(((alu4 ^ val0) < 0ll) & (alu4 != 0ll))))));
  data0[gidx0] = alu5;
}
