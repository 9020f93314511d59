namespace tinyframe {
typedef float float4 __attribute__((vector_size(16), aligned(4)));
extern "C" __global__ void __launch_bounds__(64) r_4_8_4_8_3_16_2_2(float* __restrict__ data0, const float* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int gidx1 = blockIdx.y;
  int lidx0 = threadIdx.x;
  int lidx1 = threadIdx.y;
  __shared__ float panel0[288] __attribute__((aligned(16)));
  __shared__ float panel1[256] __attribute__((aligned(16)));
  int alu0 = gidx0 * 16;
  int alu1 = lidx0 * 2;
  int alu2 = lidx1 * 128;
  int alu3 = alu0 + gidx1 * 1024 + alu1 + alu2;
  int alu4 = lidx0 & 3;
  int alu5 = lidx0 >> 2;
  int alu6 = lidx1 * 2;
  int alu7 = alu4 * 4;
  int alu8 = gidx1 * 768 + alu7 + alu5 * 48 + lidx1 * 96;
  int alu9 = alu0 + alu7 + alu5 * 64 + alu2;
  float acc0 = 0.0f;
  float acc1 = 0.0f;
  float acc2 = 0.0f;
  float acc3 = 0.0f;
  for (int ridx2 = 0; ridx2 < 3; ridx2++) {
    float4 val0 = *(float4*)(data1 + alu8 + ridx2 * 16);
    __syncthreads();
    for (int l = 0; l < 4; l++) panel0[alu4 * 72 + alu5 + alu6 + l * 18] = val0[l];
    float4 val1 = *(float4*)(data2 + alu9 + ridx2 * 1024);
    *(float4*)(panel1 + lidx0 * 4 + lidx1 * 32) = val1;
    __syncthreads();
    for (int ridx9 = 0; ridx9 < 16; ridx9++) {
      int alu10 = alu6 + ridx9 * 18;
      float val2 = panel0[alu10];
      int alu11 = alu1 + ridx9 * 16;
      float val3 = panel1[alu11];
      acc0 = acc0 + val2 * val3;
      float val4 = panel1[alu11 + 1];
      acc1 = acc1 + val2 * val4;
      float val5 = panel0[alu10 + 1];
      acc2 = acc2 + val5 * val3;
      acc3 = acc3 + val5 * val4;
    }
  }
  data0[alu3] = acc0;
  data0[alu3 + 1] = acc1;
  data0[alu3 + 64] = acc2;
  data0[alu3 + 65] = acc3;
}
}
