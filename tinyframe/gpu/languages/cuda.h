// What CUDA C++ lacks, and the instructions that it has no words for: cuda.py copies the parts that
// a source uses, each from its line `//: name` on. Without a GPU, cuda_emulator.h has the functions.
//: half4
struct __align__(8) half4 { half x, y, z, w; };
static __device__ inline half4 make_half4(half x, half y, half z, half w) {
  return half4{x, y, z, w};
}
//: half8
struct __align__(16) half8 { half x, y, z, w, s, t, u, v; };
static __device__ inline half8 make_half8(half x, half y, half z, half w, half s, half t, half u,
                                          half v) {
  return half8{x, y, z, w, s, t, u, v};
}
//: short8
struct __align__(16) short8 { short x, y, z, w, s, t, u, v; };
static __device__ inline short8 make_short8(short x, short y, short z, short w, short s, short t,
                                            short u, short v) {
  return short8{x, y, z, w, s, t, u, v};
}
//: ushort8
struct __align__(16) ushort8 { unsigned short x, y, z, w, s, t, u, v; };
static __device__ inline ushort8 make_ushort8(
    unsigned short x, unsigned short y, unsigned short z, unsigned short w, unsigned short s,
    unsigned short t, unsigned short u, unsigned short v) {
  return ushort8{x, y, z, w, s, t, u, v};
}
//: char8
struct __align__(8) char8 { signed char x, y, z, w, s, t, u, v; };
static __device__ inline char8 make_char8(
    signed char x, signed char y, signed char z, signed char w, signed char s, signed char t,
    signed char u, signed char v) {
  return char8{x, y, z, w, s, t, u, v};
}
//: uchar8
struct __align__(8) uchar8 { unsigned char x, y, z, w, s, t, u, v; };
static __device__ inline uchar8 make_uchar8(
    unsigned char x, unsigned char y, unsigned char z, unsigned char w, unsigned char s,
    unsigned char t, unsigned char u, unsigned char v) {
  return uchar8{x, y, z, w, s, t, u, v};
}
//: FRAGMENT
// Two or four matrices of 8 rows, whose places the threads give.
#define FRAGMENT(name, trans)                                                                    \
  template <class T> static __device__ inline T name(const void* row) {                          \
    unsigned int x[4], place = (unsigned int)__cvta_generic_to_shared(row);                      \
    if (sizeof(T) == 16)                                                                         \
      asm volatile("ldmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 {%0, %1, %2, %3}, [%4];"   \
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(place));               \
    else                                                                                         \
      asm volatile("ldmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 {%0, %1}, [%2];"           \
                   : "=r"(x[0]), "=r"(x[1]) : "r"(place));                                       \
    return *reinterpret_cast<T*>(x);                                                             \
  }
//: fragment
#ifdef __CUDA_ARCH__
FRAGMENT(fragment, "")
#endif
//: transposed_fragment
#ifdef __CUDA_ARCH__
FRAGMENT(transposed_fragment, ".trans")
#endif
//: MMA_OF_16_BITS
// A register holds two elements. PTX wants those of both rows in turn, hence x[0], x[2], x[1], x[3].
#define MMA_OF_16_BITS(form, of_a, of_b)                                                         \
  static __device__ inline float4 mma_##form(of_a, of_b, float4 c) {                             \
    const unsigned int *x = reinterpret_cast<const unsigned int*>(&a);                           \
    const unsigned int *y = reinterpret_cast<const unsigned int*>(&b);                           \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." #form "." #form ".f32 "                \
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"               \
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)                                    \
                 : "r"(x[0]), "r"(x[2]), "r"(x[1]), "r"(x[3]), "r"(y[0]), "r"(y[1]));            \
    return c;                                                                                    \
  }
//: mma_f16
#ifdef __CUDA_ARCH__
MMA_OF_16_BITS(f16, half8 a, half4 b)
#endif
//: mma_bf16
#ifdef __CUDA_ARCH__
MMA_OF_16_BITS(bf16, ushort8 a, ushort4 b)
#endif
//: mma_tf32
// Each element is rounded to TF32. PTX wants the registers of both rows in turn: x[0], x[2], …
#ifdef __CUDA_ARCH__
static __device__ inline float4 mma_tf32(float4 a, float2 b, float4 c) {
  unsigned int x[4], y[2];
  for (int n = 0; n < 4; n++)
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x[n]) : "f"(reinterpret_cast<const float*>(&a)[n]));
  for (int n = 0; n < 2; n++)
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y[n]) : "f"(reinterpret_cast<const float*>(&b)[n]));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
               : "r"(x[0]), "r"(x[2]), "r"(x[1]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  return c;
}
#endif
//: copy_async
// 16 bytes to shared memory, without registers; zeros if there is nothing to copy.
#ifdef __CUDA_ARCH__
static __device__ inline void copy_async(void* place, const void* source, bool exists) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"((unsigned int)__cvta_generic_to_shared(place)), "l"(source),
                  "r"(exists ? 16 : 0) : "memory");
}
#define commit_copies() asm volatile("cp.async.commit_group;" ::: "memory")
#define wait_for_copies(groups) asm volatile("cp.async.wait_group " #groups ";" ::: "memory")
#endif
//: shared
extern __shared__ __align__(16) unsigned char shared[];
