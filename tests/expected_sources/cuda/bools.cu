extern "C" __global__ void __launch_bounds__(1) E_16_4(bool* __restrict__ data0, const float* __restrict__ data1, const float* __restrict__ data2, const bool* __restrict__ data3, const float* __restrict__ data4) {
  for (int ridx0 = 0; ridx0 < 16; ridx0++) {
    int alu0 = ridx0 * 4;
    float4 val0 = *reinterpret_cast<const float4*>(data1 + alu0);
    float4 val1 = *reinterpret_cast<const float4*>(data2 + alu0);
    bool val2 = data3[alu0];
    float4 val3 = *reinterpret_cast<const float4*>(data4 + alu0);
    data0[alu0] = ((val0.x < val1.x) & val2) | (val3.x > 0.0f);
    int alu1 = alu0 + 1;
    bool val4 = data3[alu1];
    data0[alu1] = ((val0.y < val1.y) & val4) | (val3.y > 0.0f);
    int alu2 = alu0 + 2;
    bool val5 = data3[alu2];
    data0[alu2] = ((val0.z < val1.z) & val5) | (val3.z > 0.0f);
    int alu3 = alu0 + 3;
    bool val6 = data3[alu3];
    data0[alu3] = ((val0.w < val1.w) & val6) | (val3.w > 0.0f);
  }
}
