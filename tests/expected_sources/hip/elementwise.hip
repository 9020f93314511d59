namespace tinyframe {
typedef float float4 __attribute__((vector_size(16), aligned(4)));
static inline __device__ float4 max_float4(float4 a, float4 b) { return (b > a) | (b != b) ? b : a; }
extern "C" __global__ void __launch_bounds__(64) E_4_64_4(float* __restrict__ data0, const float* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 256 + lidx0 * 4;
  float4 val0 = *(float4*)(data1 + alu0);
  float4 val1 = *(float4*)(data2 + alu0);
  *(float4*)(data0 + alu0) = max_float4(val0 * 2.0f + val1, float4{ 0.0f, 0.0f, 0.0f, 0.0f });
}
}
