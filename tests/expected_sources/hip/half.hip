namespace tinyframe {
typedef _Float16 half4 __attribute__((vector_size(8), aligned(2)));
typedef float float4 __attribute__((vector_size(16), aligned(4)));
extern "C" __global__ void __launch_bounds__(1) E_16_4(_Float16* __restrict__ data0, const _Float16* __restrict__ data1, const _Float16* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 4;
  half4 val0 = *(half4*)(data1 + alu0);
  half4 val1 = *(half4*)(data2 + alu0);
  *(half4*)(data0 + alu0) = __builtin_convertvector(__builtin_convertvector(val0, float4) * __builtin_convertvector(val1, float4), half4);
}
}
