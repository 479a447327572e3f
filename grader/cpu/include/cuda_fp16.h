#ifndef WARPLAB_CPU_CUDA_FP16_H
#define WARPLAB_CPU_CUDA_FP16_H
// Half precision: 5 bits of exponent, 10 of fraction.

#include "cuda_runtime.h"
#include "warplab_cpu/float16.h"

struct __nv_bfloat16;

#define WARPLAB_CPU_NAME16 half
#define WARPLAB_CPU_NAME32 half2
#define WARPLAB_CPU_TYPE16 __half
#define WARPLAB_CPU_TYPE32 __half2
#define WARPLAB_CPU_RAW16 __half_raw
#define WARPLAB_CPU_RAW32 __half2_raw
#define WARPLAB_CPU_OTHER16 __nv_bfloat16
#define WARPLAB_CPU_FORMAT HalfFormat
#include "warplab_cpu/float16.inc"

typedef __half half, nv_half, __nv_half;
typedef __half2 half2, nv_half2, __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)

#endif
