// The words of HIP that generated kernels use: for an AMD GPU as clang has them, and for this
// machine, where one thread runs at a time, so that nobody waits at a barrier.
#pragma once
struct uint3 { unsigned x, y, z; };
#ifdef __HIP__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
static inline __device__ uint3 of_blocks() {
  return {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
          __builtin_amdgcn_workgroup_id_z()};
}
static inline __device__ uint3 of_threads() {
  return {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
          __builtin_amdgcn_workitem_id_z()};
}
#define blockIdx of_blocks()
#define threadIdx of_threads()
static inline __device__ void __syncthreads() { __builtin_amdgcn_s_barrier(); }
#else
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)
static uint3 blockIdx, threadIdx;
static inline void __syncthreads() {}
#endif
static inline __device__ float sqrtf(float x) { return __builtin_sqrtf(x); }
static inline __device__ double sqrt(double x) { return __builtin_sqrt(x); }
extern "C" {  // in the library of AMD's GPUs, and in this machine's
__device__ double log2(double), sin(double), cos(double), pow(double, double), fmod(double, double);
}
// structs of these names come with HIP, and must not be taken for the kernel's own vectors
struct float2; struct float4; struct int4; struct uint4; struct double4; struct char4;
