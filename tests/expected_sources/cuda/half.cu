#include <cuda_fp16.h>
struct __align__(8) half4 { half x, y, z, w; };
static __device__ inline half4 make_half4(half x, half y, half z, half w) {
  return half4{x, y, z, w};
}
extern "C" __global__ void __launch_bounds__(1) E_16_4(half* __restrict__ data0, const half* __restrict__ data1, const half* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 4;
  half4 val0 = *reinterpret_cast<const half4*>(data1 + alu0);
  half4 val1 = *reinterpret_cast<const half4*>(data2 + alu0);
  *reinterpret_cast<half4*>(data0 + alu0) = make_half4((half)((float)val0.x * (float)val1.x), (half)((float)val0.y * (float)val1.y), (half)((float)val0.z * (float)val1.z), (half)((float)val0.w * (float)val1.w));
}
