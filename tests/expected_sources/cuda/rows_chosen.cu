extern "C" __global__ void __launch_bounds__(1) E_8_4(float* __restrict__ data0, const int* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 4;
  int val0 = data1[gidx0];
  int alu1 = (val0 < 0) ? ((int)(((unsigned int)val0) + 50u)) : val0;
  int alu2 = ((alu1 < 50) & (alu1 >= 0)) ? alu1 : -1;
  unsigned int alu3 = ((unsigned int)alu2) * 4u;
  bool alu4 = (alu2 < 50) & (alu2 >= 0);
  #pragma unroll
  for (int ridx1 = 0; ridx1 < 4; ridx1++) {
    float val1 = alu4 ? data2[(int)(alu3 + ((unsigned int)ridx1))] : 0;
    data0[alu0 + ridx1] = alu4 ? val1 : __int_as_float(0x7fc00000);
  }
}
