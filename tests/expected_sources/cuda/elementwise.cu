static __device__ inline float max_float(float a, float b) { return b > a || b != b ? b : a; }
extern "C" __global__ void __launch_bounds__(64) E_4_64_4(float* __restrict__ data0, const float* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 256 + lidx0 * 4;
  float4 val0 = *reinterpret_cast<const float4*>(data1 + alu0);
  float4 val1 = *reinterpret_cast<const float4*>(data2 + alu0);
  *reinterpret_cast<float4*>(data0 + alu0) = make_float4(max_float(val0.x * 2.0f + val1.x, 0.0f), max_float(val0.y * 2.0f + val1.y, 0.0f), max_float(val0.z * 2.0f + val1.z, 0.0f), max_float(val0.w * 2.0f + val1.w, 0.0f));
}
