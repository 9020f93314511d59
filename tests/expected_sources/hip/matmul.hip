namespace tinyframe {
extern "C" __global__ void __launch_bounds__(64) r_4_8_4_8_3_16_2_2(float* __restrict__ data0, const float* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int gidx1 = blockIdx.y;
  int lidx0 = threadIdx.x;
  int lidx1 = threadIdx.y;
  __shared__ float panel0[256] __attribute__((aligned(16)));
  __shared__ float panel1[256] __attribute__((aligned(16)));
  int alu0 = gidx0 * 16;
  int alu1 = lidx0 * 2;
  int alu2 = alu0 + gidx1 * 1024 + alu1 + lidx1 * 128;
  int alu3 = lidx1 & 1;
  int alu4 = lidx1 >> 1;
  int alu5 = lidx0 * 16 + alu3 * 128 + alu4;
  int alu6 = alu3 * 8;
  int alu7 = gidx1 * 768 + lidx0 + alu6 + alu4 * 48;
  int alu8 = alu5 + 4;
  int alu9 = alu5 + 8;
  int alu10 = alu5 + 12;
  int alu11 = lidx1 * 2;
  int alu12 = alu0 + lidx0 + alu6 + alu4 * 64;
  int alu13 = lidx0 + lidx1 * 8;
  int alu14 = alu13 + 64;
  int alu15 = alu13 + 128;
  int alu16 = alu13 + 192;
  float acc0 = 0.0f;
  float acc1 = 0.0f;
  float acc2 = 0.0f;
  float acc3 = 0.0f;
  for (int ridx2 = 0; ridx2 < 3; ridx2++) {
    int alu17 = alu7 + ridx2 * 16;
    float val0 = data1[alu17];
    __syncthreads();
    panel0[alu5] = val0;
    float val1 = data1[alu17 + 192];
    panel0[alu8] = val1;
    float val2 = data1[alu17 + 384];
    panel0[alu9] = val2;
    float val3 = data1[alu17 + 576];
    panel0[alu10] = val3;
    int alu18 = alu12 + ridx2 * 1024;
    float val4 = data2[alu18];
    panel1[alu13] = val4;
    float val5 = data2[alu18 + 256];
    panel1[alu14] = val5;
    float val6 = data2[alu18 + 512];
    panel1[alu15] = val6;
    float val7 = data2[alu18 + 768];
    panel1[alu16] = val7;
    __syncthreads();
    for (int ridx9 = 0; ridx9 < 16; ridx9++) {
      int alu19 = ridx9 * 16;
      int alu20 = alu11 + alu19;
      float val8 = panel0[alu20];
      int alu21 = alu1 + alu19;
      float val9 = panel1[alu21];
      acc0 = acc0 + val8 * val9;
      float val10 = panel1[alu21 + 1];
      acc1 = acc1 + val8 * val10;
      float val11 = panel0[alu20 + 1];
      acc2 = acc2 + val11 * val9;
      acc3 = acc3 + val11 * val10;
    }
  }
  data0[alu2] = acc0;
  data0[alu2 + 1] = acc1;
  data0[alu2 + 64] = acc2;
  data0[alu2 + 65] = acc3;
}
}
