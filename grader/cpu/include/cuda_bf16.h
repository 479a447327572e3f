#ifndef WARPLAB_CPU_CUDA_BF16_H
#define WARPLAB_CPU_CUDA_BF16_H
// bfloat16: the upper half of a float, with 8 bits of exponent and 7 of fraction.

#include "cuda_fp16.h"

#define WARPLAB_CPU_NAME16 bfloat16
#define WARPLAB_CPU_NAME32 bfloat162
#define WARPLAB_CPU_TYPE16 __nv_bfloat16
#define WARPLAB_CPU_TYPE32 __nv_bfloat162
#define WARPLAB_CPU_RAW16 __nv_bfloat16_raw
#define WARPLAB_CPU_RAW32 __nv_bfloat162_raw
#define WARPLAB_CPU_OTHER16 __half
#define WARPLAB_CPU_FORMAT Bfloat16Format
#include "warplab_cpu/float16.inc"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline __half::__half(const __nv_bfloat16& value) : __half(float(value)) {}
inline __nv_bfloat16::__nv_bfloat16(const __half& value) : __nv_bfloat16(float(value)) {}

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)

#endif
