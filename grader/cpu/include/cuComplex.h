#pragma once
// Complex numbers as CUDA's float2 and double2.

#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

namespace warplab_cpu {
/// Return x / y. `scale` is a factor for both, with which the square of the divisor neither overflows nor underflows.
template <class Complex, class Real>
Complex divide_complex(Complex x, Complex y, Real scale) {
    const Real a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale, inverse = 1 / (c * c + d * d);
    return {(a * c + b * d) * inverse, (b * c - a * d) * inverse};
}
}  // namespace warplab_cpu

#define WARPLAB_CPU_COMPLEX(type, real, f)                                                           \
    inline real cuCreal##f(type z) { return z.x; }                                                   \
    inline real cuCimag##f(type z) { return z.y; }                                                   \
    inline type make_##type(real x, real y) { return {x, y}; }                                       \
    inline type cuConj##f(type z) { return {z.x, -z.y}; }                                            \
    inline type cuCadd##f(type x, type y) { return {x.x + y.x, x.y + y.y}; }                         \
    inline type cuCsub##f(type x, type y) { return {x.x - y.x, x.y - y.y}; }                         \
    inline type cuCmul##f(type x, type y) { return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; } \
    inline type cuCdiv##f(type x, type y) {                                                          \
        return warplab_cpu::divide_complex(x, y, 1 / (fabs##f(y.x) + fabs##f(y.y)));                 \
    }                                                                                                \
    inline real cuCabs##f(type z) { return hypot##f(z.x, z.y); }                                     \
    inline type cuCfma##f(type x, type y, type d) {                                                  \
        return {-(x.y * y.y) + (x.x * y.x + d.x), x.y * y.x + (x.x * y.y + d.y)};                    \
    }
WARPLAB_CPU_COMPLEX(cuFloatComplex, float, f)
WARPLAB_CPU_COMPLEX(cuDoubleComplex, double, )
#undef WARPLAB_CPU_COMPLEX

inline cuComplex make_cuComplex(float x, float y) { return {x, y}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return {float(z.x), float(z.y)}; }
