// CUDA C++ for kernels that run on a processor; see cuda_emulator.py.
//
// This file defines what the source of a kernel uses. The code that runs it is in cuda_emulator.c.

#include <stdint.h>

// ---- the language --------------------------------------------------------------------------------

#define __global__
#define __device__
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(threads)
#define __syncthreads() emulated_barrier(__LINE__)
#define reinterpret_cast emulated_cast

struct uint3 { unsigned int x, y, z; };
typedef uint3 dim3;

#pragma GCC visibility push(hidden)
extern "C" {
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
void emulated_barrier(int line);
void emulated_line(int line);
void emulated_shared(const char* name, void* start, long long bytes, long long element);
void emulated_vector(const void* pointer, long long bytes);
void emulated_fragment_of(const unsigned short* row, unsigned short* out, int count, int is_transposed,
                          int line);
void emulated_copy(void* place, const void* source, int exists, int line);
void emulated_commit(void);
void emulated_wait(int groups);
void emulated_mma(int run, const float* a, const float* b, float* c, int line);
}
#pragma GCC visibility pop

#define UNCHECKED __attribute__((no_sanitize("thread")))
// To copy a struct, clang calls memcpy, before version 16 under that very name, since the library of
// ThreadSanitizer replaces it. So each kernel has private functions of these names.
#ifdef __clang__
#define SYMBOL(prefix, name) __asm__(SYMBOL_(prefix) #name)
#define SYMBOL_(prefix) #prefix
#define WATCHED(name, from)                                                                         \
  extern "C" __attribute__((visibility("hidden"))) void* __tsan_##name(void*, from, unsigned long); \
  __attribute__((used)) static void* emulated_##name(void*, from, unsigned long)                    \
      SYMBOL(__USER_LABEL_PREFIX__, name);                                                          \
  UNCHECKED void* emulated_##name(void* to, from what, unsigned long size) {                        \
    return __tsan_##name(to, what, size);                                                           \
  }
WATCHED(memcpy, const void*)
WATCHED(memmove, const void*)
WATCHED(memset, int)
#endif

#define VECTORS(type, name, align2, align4)                                       \
  struct alignas(align2) name##2 { type x, y; };                                  \
  struct alignas(align4) name##4 { type x, y, z, w; };                            \
  static inline name##2 make_##name##2(type x, type y) { return {x, y}; }         \
  static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
VECTORS(float, float, 8, 16)
VECTORS(double, double, 16, 16)
VECTORS(signed char, char, 2, 4)
VECTORS(unsigned char, uchar, 2, 4)
VECTORS(short, short, 4, 8)
VECTORS(unsigned short, ushort, 4, 8)
VECTORS(int, int, 8, 16)
VECTORS(unsigned int, uint, 8, 16)
VECTORS(long long, longlong, 16, 16)
VECTORS(unsigned long long, ulonglong, 16, 16)

static inline float sqrt(float x) { return __builtin_sqrtf(x); }
static inline float trunc(float x) { return __builtin_truncf(x); }
static inline double sqrt(double x) { return __builtin_sqrt(x); }
static inline double trunc(double x) { return __builtin_trunc(x); }
static inline double log2(double x) { return __builtin_log2(x); }
static inline double sin(double x) { return __builtin_sin(x); }
static inline double cos(double x) { return __builtin_cos(x); }
static inline double pow(double x, double y) { return __builtin_pow(x, y); }
static inline double fmod(double x, double y) { return __builtin_fmod(x, y); }

#define SAME_BITS(function, from, to) \
  static inline to function(from x) { return __builtin_bit_cast(to, x); }
SAME_BITS(__float_as_int, float, int)
SAME_BITS(__float_as_uint, float, unsigned int)
SAME_BITS(__int_as_float, int, float)
SAME_BITS(__uint_as_float, unsigned int, float)
SAME_BITS(__double_as_longlong, double, long long)
SAME_BITS(__longlong_as_double, long long, double)

// float16 as in cuda_fp16.h: for storage, with conversions that round to even
struct half {
  unsigned short bits;
  constexpr half() : bits(0) {}
  template <class T> half(T x) : bits(narrow((double)x)) {}
  operator float() const { return widen(bits); }

  static float widen(unsigned int bits) {
    unsigned int sign = (bits & 0x8000) << 16, size = bits & 0x7fff;
    float value = size >= 0x7c00 ? __uint_as_float(size << 13 | 0x7f800000)
                                 : __uint_as_float(size << 13) * 0x1p112f;
    return __uint_as_float(__float_as_uint(value) | sign);
  }
  static unsigned short narrow(double x) {
    unsigned long long all = __double_as_longlong(x);
    unsigned short sign = all >> 48 & 0x8000;
    double size = __longlong_as_double(all & ~(1ull << 63));
    if (size != size) return sign | 0x7e00;
    if (size >= 65520) return sign | 0x7c00;
    // adding `one` rounds to the precision of a float16 of this size
    int exponent = size < 0x1p-14 ? -14 : (int)((__double_as_longlong(size) >> 52) - 1023);
    double one = __longlong_as_double((long long)(exponent + 42 + 1023) << 52);
    volatile double sum = size + one;
    unsigned int digits = (unsigned int)((sum - one) * (0x1p10 / __longlong_as_double(
        (long long)(exponent + 1023) << 52)));
    return sign | (digits + ((unsigned int)(exponent + 14) << 10));
  }
};
struct alignas(4) half2 { half x, y; };
static inline half2 make_half2(half x, half y) { return {x, y}; }
SAME_BITS(__half_as_short, half, short)
SAME_BITS(__half_as_ushort, half, unsigned short)
SAME_BITS(__short_as_half, short, half)
SAME_BITS(__ushort_as_half, unsigned short, half)

// ---- tensor cores --------------------------------------------------------------------------------

// An operand as a tensor core reads it; a float is rounded to ten mantissa bits.
static inline float emulated_f16(half x) { return x; }
static inline float emulated_bf16(unsigned short bits) {
  return __uint_as_float((unsigned int)bits << 16);
}
static inline float emulated_tf32(float x) {
  unsigned int bits = __float_as_uint(x);
  return (bits & 0x7f800000) == 0x7f800000 ? x : __uint_as_float((bits + 0x1000) & ~0x1fffu);
}

// A thread's part of a matrix product that a warp computes: its operands and its results.
#define TENSOR_CORE(form, type, run)                                                            \
  template <class A, class B>                                                                   \
  static inline float4 emulated_mma_##form(const A& a, const B& b, float4 c, int line) {         \
    float x[2 * run], y[run], results[] = {c.x, c.y, c.z, c.w};                                 \
    for (int n = 0; n < 2 * run; n++) x[n] = emulated_##form(((const type*)&a)[n]);              \
    for (int n = 0; n < run; n++) y[n] = emulated_##form(((const type*)&b)[n]);                  \
    emulated_mma(run, x, y, results, line);                                                     \
    return {results[0], results[1], results[2], results[3]};                                    \
  }
TENSOR_CORE(f16, half, 4)
TENSOR_CORE(bf16, unsigned short, 4)
TENSOR_CORE(tf32, float, 2)
#define mma_f16(...) emulated_mma_f16(__VA_ARGS__, __LINE__)
#define mma_bf16(...) emulated_mma_bf16(__VA_ARGS__, __LINE__)
#define mma_tf32(...) emulated_mma_tf32(__VA_ARGS__, __LINE__)

// A thread's elements of matrices of 8 x 8, a row of which it gives.
template <class T> static inline T emulated_fragment(const void* row, int is_transposed, int line) {
  unsigned short given[8], found[sizeof(T) / 2];
  emulated_vector(row, 16);
  for (int n = 0; n < 8; n++) given[n] = ((const unsigned short*)row)[n];
  emulated_fragment_of(given, found, sizeof(T) / 2, is_transposed, line);
  T all;
  for (int n = 0; n < (int)(sizeof(T) / 2); n++) ((unsigned short*)&all)[n] = found[n];
  return all;
}
template <class T> static inline T fragment(const void* row, int line = __builtin_LINE()) {
  return emulated_fragment<T>(row, 0, line);
}
template <class T> static inline T transposed_fragment(const void* row, int line = __builtin_LINE()) {
  return emulated_fragment<T>(row, 1, line);
}

// ---- copies that a thread does not wait for at once ----------------------------------------------

#define copy_async(place, source, exists) emulated_copy(place, source, exists, __LINE__)
#define commit_copies() emulated_commit()
#define wait_for_copies(groups) emulated_wait(groups)

// ---- the kernel's interface to cuda_emulator.c ---------------------------------------------------

// Registers an array of the block where it is declared.
#define SHARED(array, size) emulated_shared(#array, array, size * sizeof *array, sizeof *array);

template <class T> struct Pointed;
template <class T> struct Pointed<T*> { typedef T type; };
template <class T> static inline T emulated_cast(const void* pointer) {
  emulated_vector(pointer, alignof(typename Pointed<T>::type));
  return (T)pointer;
}

template <class T> struct Element { enum { bytes = 0 }; };
template <class T> struct Element<T*> { enum { bytes = sizeof(T) }; };

// Calls a kernel with an array of pointers to its arguments, like cuLaunchKernel. The braces ensure
// that arguments are evaluated in order.
template <class... P> struct Parameters {
  static constexpr int elements[] = {Element<P>::bytes...};
  void (*kernel)(P...);
  UNCHECKED void with(void** given) { Call{kernel, *(P*)*given++...}; }
  struct Call {
    UNCHECKED Call(void (*kernel)(P...), P... all) { kernel(all...); }
  };
};
template <class... P> constexpr Parameters<P...> parameters_of(void (*kernel)(P...)) {
  return {kernel};
}

#define EMULATE(name, bound, ...)                                                                  \
  extern "C" {                                                                                     \
  extern const int emulated_bound = bound, *const emulated_elements =                              \
      decltype(parameters_of(name))::elements;                                                     \
  extern const char* const emulated_names[] = {__VA_ARGS__};                                       \
  UNCHECKED void emulated_kernel(void** given) { parameters_of(name).with(given); }                \
  }
