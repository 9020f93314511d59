namespace tinyframe {
typedef float float4 __attribute__((vector_size(16), aligned(4)));
static inline __device__ float4 sqrt_float4(float4 a) { float4 r; for (int i = 0; i < 4; i++) r[i] = ::sqrtf(a[i]); return r; }
static inline __device__ float4 trunc_float4(float4 a) { float4 r; for (int i = 0; i < 4; i++) r[i] = __builtin_truncf(a[i]); return r; }
extern "C" __global__ void __launch_bounds__(1) E_16_4(float* __restrict__ data0, const float* __restrict__ data1, const float* __restrict__ data2) {
  for (int ridx0 = 0; ridx0 < 16; ridx0++) {
    int alu0 = ridx0 * 4;
    float4 val0 = *(float4*)(data1 + alu0);
    float4 val1 = *(float4*)(data2 + alu0);
    *(float4*)(data0 + alu0) = sqrt_float4(val0) + trunc_float4(val1);
  }
}
}
