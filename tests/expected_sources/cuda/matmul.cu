extern "C" __global__ void __launch_bounds__(64) r_4_8_4_8_3_16_2_2(float* __restrict__ data0, const float* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int gidx1 = blockIdx.y;
  int lidx0 = threadIdx.x;
  int lidx1 = threadIdx.y;
  __shared__ __align__(16) float panel0[256];
  __shared__ __align__(16) float panel1[256];
  int alu0 = gidx0 * 16;
  int alu1 = lidx0 * 2;
  int alu2 = alu0 + gidx1 * 1024 + alu1 + lidx1 * 128;
  int alu3 = lidx1 >> 1;
  int alu4 = lidx1 & 1;
  int alu5 = lidx0 * 16 + alu3 + alu4 * 128;
  int alu6 = alu4 * 8;
  int alu7 = gidx1 * 768 + lidx0 + alu3 * 48 + alu6;
  int alu8 = lidx1 * 2;
  int alu9 = lidx0 + lidx1 * 8;
  int alu10 = alu0 + lidx0 + alu3 * 64 + alu6;
  float acc0 = 0.0f;
  float acc1 = 0.0f;
  float acc2 = 0.0f;
  float acc3 = 0.0f;
  for (int ridx2 = 0; ridx2 < 3; ridx2++) {
    int alu11 = alu7 + ridx2 * 16;
    __syncthreads();
    for (int ridx14 = 0; ridx14 < 4; ridx14++) {
      float val0 = data1[alu11 + ridx14 * 192];
      panel0[alu5 + ridx14 * 4] = val0;
    }
    int alu12 = alu10 + ridx2 * 1024;
    for (int ridx15 = 0; ridx15 < 4; ridx15++) {
      float val1 = data2[alu12 + ridx15 * 256];
      panel1[alu9 + ridx15 * 64] = val1;
    }
    __syncthreads();
    for (int ridx9 = 0; ridx9 < 16; ridx9++) {
      int alu13 = ridx9 * 16;
      int alu14 = alu8 + alu13;
      float val2 = panel0[alu14];
      int alu15 = alu1 + alu13;
      float val3 = panel1[alu15];
      acc0 = acc0 + val2 * val3;
      float val4 = panel1[alu15 + 1];
      acc1 = acc1 + val2 * val4;
      float val5 = panel0[alu14 + 1];
      acc2 = acc2 + val5 * val3;
      acc3 = acc3 + val5 * val4;
    }
  }
  data0[alu2] = acc0;
  data0[alu2 + 1] = acc1;
  data0[alu2 + 64] = acc2;
  data0[alu2 + 65] = acc3;
}
