#pragma once
// CUDA's keywords, vector types and built-in variables.

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __builtin_assume(...) static_cast<void>(sizeof((__VA_ARGS__) ? 1 : 0))  // not evaluated, as in nvcc
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)
#define CUDART_CB
#define CUDARTAPI

#define WARPLAB_CPU_INLINE inline __attribute__((always_inline))
#define WARPLAB_CPU_COLD __attribute__((noinline, cold))
#define WARPLAB_CPU_THREAD_LOCAL __thread

// The replacement for __noinline__. With the sanitizer, such functions are inlined, because GCC's hooks do not see a
// struct that a call takes or returns by value.
#ifdef WARPLAB_CPU_FAST
#define WARPLAB_CPU_NOINLINE __attribute__((noinline))
#else
#define WARPLAB_CPU_NOINLINE
#endif

namespace warplab_cpu {
/// The line of a call: an additional last parameter of CUDA's functions, with the default `{}`. It has a separate type,
/// so that none of the student's arguments can be passed to it.
struct Line {
    int number = __builtin_LINE();
    constexpr operator int() const { return number; }
};
}  // namespace warplab_cpu

#define WARPLAB_CPU_VECTOR_TYPES(type, name, align2, align4)                       \
    struct name##1 {                                                               \
        type x;                                                                    \
    };                                                                             \
    struct alignas(align2) name##2 {                                               \
        type x, y;                                                                 \
    };                                                                             \
    struct name##3 {                                                               \
        type x, y, z;                                                              \
    };                                                                             \
    struct alignas(align4) name##4 {                                               \
        type x, y, z, w;                                                           \
    };                                                                             \
    constexpr name##1 make_##name##1(type x) { return {x}; }                       \
    constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
    constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

WARPLAB_CPU_VECTOR_TYPES(signed char, char, 2, 4)
WARPLAB_CPU_VECTOR_TYPES(unsigned char, uchar, 2, 4)
WARPLAB_CPU_VECTOR_TYPES(short, short, 4, 8)
WARPLAB_CPU_VECTOR_TYPES(unsigned short, ushort, 4, 8)
WARPLAB_CPU_VECTOR_TYPES(int, int, 8, 16)
WARPLAB_CPU_VECTOR_TYPES(unsigned int, uint, 8, 16)
WARPLAB_CPU_VECTOR_TYPES(long, long, 16, 16)
WARPLAB_CPU_VECTOR_TYPES(unsigned long, ulong, 16, 16)
WARPLAB_CPU_VECTOR_TYPES(long long, longlong, 16, 16)
WARPLAB_CPU_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
WARPLAB_CPU_VECTOR_TYPES(float, float, 8, 16)
WARPLAB_CPU_VECTOR_TYPES(double, double, 16, 16)
#undef WARPLAB_CPU_VECTOR_TYPES

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

// Each file and each OS thread has a copy. Their address is never taken, so the compiler knows that a store through a
// kernel's pointer does not change them. The code that switches between threads sets them again.
static WARPLAB_CPU_THREAD_LOCAL uint3 threadIdx __attribute__((unused));
static WARPLAB_CPU_THREAD_LOCAL uint3 blockIdx __attribute__((unused));
static WARPLAB_CPU_THREAD_LOCAL dim3 blockDim __attribute__((unused));
static WARPLAB_CPU_THREAD_LOCAL dim3 gridDim __attribute__((unused));
static constexpr int warpSize = 32;
