namespace tinyframe {
typedef float float4 __attribute__((vector_size(16), aligned(4)));
extern "C" __global__ void __launch_bounds__(1) E_64_2_4(float* __restrict__ data0, const float* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 8;
  for (int ridx3 = 0; ridx3 < 2; ridx3++) {
    float4 val0 = float4{ data1[gidx0 + ridx3 * 256 + 0 * 64], data1[gidx0 + ridx3 * 256 + 1 * 64], data1[gidx0 + ridx3 * 256 + 2 * 64], data1[gidx0 + ridx3 * 256 + 3 * 64] };
    *(float4*)(data0 + alu0 + ridx3 * 4) = val0;
  }
}
}
