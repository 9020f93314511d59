extern "C" __global__ void __launch_bounds__(1) E_64(unsigned short* __restrict__ data0, const unsigned short* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  unsigned short val0 = data1[gidx0];
  float alu0 = __uint_as_float(((unsigned int)val0) << 16u) * 3.0f;
  unsigned int alu1 = __float_as_uint(alu0);
  data0[gidx0] = ((alu0 != alu0) ? (alu1 | 4194304u) : ((alu1 + 32767u) + ((alu1 >> 16u) & 1u))) >> 16u;
}
