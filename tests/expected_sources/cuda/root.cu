extern "C" __global__ void __launch_bounds__(1) E_16_4(float* __restrict__ data0, const float* __restrict__ data1, const float* __restrict__ data2) {
  for (int ridx0 = 0; ridx0 < 16; ridx0++) {
    int alu0 = ridx0 * 4;
    float4 val0 = *reinterpret_cast<const float4*>(data1 + alu0);
    float4 val1 = *reinterpret_cast<const float4*>(data2 + alu0);
    *reinterpret_cast<float4*>(data0 + alu0) = make_float4(sqrt(val0.x) + trunc(val1.x), sqrt(val0.y) + trunc(val1.y), sqrt(val0.z) + trunc(val1.z), sqrt(val0.w) + trunc(val1.w));
  }
}
