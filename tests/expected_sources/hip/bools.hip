namespace tinyframe {
typedef float float4 __attribute__((vector_size(16), aligned(4)));
typedef signed char char4 __attribute__((vector_size(4), aligned(1)));
typedef int int4 __attribute__((vector_size(16), aligned(4)));
extern "C" __global__ void __launch_bounds__(1) E_16_4(bool* __restrict__ data0, const float* __restrict__ data1, const float* __restrict__ data2, const bool* __restrict__ data3, const float* __restrict__ data4) {
  for (int ridx0 = 0; ridx0 < 16; ridx0++) {
    int alu0 = ridx0 * 4;
    float4 val0 = *(float4*)(data1 + alu0);
    float4 val1 = *(float4*)(data2 + alu0);
    char4 val2 = *(char4*)(data3 + alu0);
    float4 val3 = *(float4*)(data4 + alu0);
    char4 alu1 = __builtin_convertvector(((val0 < val1) & __builtin_convertvector(val2 != 0, int4)) | (val3 > 0.0f), char4) & 1;
    *(char4*)(data0 + alu0) = alu1;
  }
}
}
