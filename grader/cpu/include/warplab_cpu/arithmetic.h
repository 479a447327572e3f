#pragma once
// Arithmetic device functions that the C++ library does not have. Functions that a GPU approximates, such as __expf,
// are as accurate here as the C library's functions.

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "types.h"

#define WARPLAB_CPU_MIN_MAX(a, b, result)                                                                     \
    inline constexpr result min(a x, b y) { return static_cast<result>(x) < static_cast<result>(y) ? x : y; } \
    inline constexpr result max(a x, b y) { return static_cast<result>(y) < static_cast<result>(x) ? x : y; }
#define WARPLAB_CPU_MIN_MAXES(type)                                  \
    WARPLAB_CPU_MIN_MAX(type, type, type)                            \
    WARPLAB_CPU_MIN_MAX(unsigned type, unsigned type, unsigned type) \
    WARPLAB_CPU_MIN_MAX(type, unsigned type, unsigned type)          \
    WARPLAB_CPU_MIN_MAX(unsigned type, type, unsigned type)
WARPLAB_CPU_MIN_MAXES(int)
WARPLAB_CPU_MIN_MAXES(long)
WARPLAB_CPU_MIN_MAXES(long long)
#undef WARPLAB_CPU_MIN_MAXES
#undef WARPLAB_CPU_MIN_MAX
inline float min(float x, float y) { return fminf(x, y); }
inline float max(float x, float y) { return fmaxf(x, y); }
inline double min(double x, double y) { return fmin(x, y); }
inline double max(double x, double y) { return fmax(x, y); }
inline double min(float x, double y) { return fmin(x, y); }
inline double max(float x, double y) { return fmax(x, y); }
inline double min(double x, float y) { return fmin(x, y); }
inline double max(double x, float y) { return fmax(x, y); }
inline unsigned umin(unsigned x, unsigned y) { return x < y ? x : y; }
inline unsigned umax(unsigned x, unsigned y) { return x > y ? x : y; }
inline long long llmin(long long x, long long y) { return x < y ? x : y; }
inline long long llmax(long long x, long long y) { return x > y ? x : y; }
inline unsigned long long ullmin(unsigned long long x, unsigned long long y) { return x < y ? x : y; }
inline unsigned long long ullmax(unsigned long long x, unsigned long long y) { return x > y ? x : y; }

// Bits

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned long long __brevll(unsigned long long x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(x);
}
inline unsigned __brev(unsigned x) { return unsigned(__brevll(x) >> 32); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const uint64_t bytes = uint64_t(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned choice = selector >> 4 * i & 7;
        result |= (unsigned(bytes >> 8 * choice) & 255) << 8 * i;
    }
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return unsigned((uint64_t(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return unsigned((uint64_t(high) << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
    const int step = offset < 0 ? -1 : 1;
    int left = offset == 0 ? 1 : offset * step;
    for (int i = int(base); i >= 0 && i < 32; i += step) {
        if ((mask >> i & 1) && --left == 0) return unsigned(i);
        if (offset == 0) break;
    }
    return 0xffffffffu;
}

// Integers

inline int __mul24(int x, int y) {
    return int(uint32_t(int32_t(uint32_t(x) << 8) >> 8) * uint32_t(int32_t(uint32_t(y) << 8) >> 8));
}
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
inline int __mulhi(int x, int y) { return int(int64_t(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) { return unsigned(uint64_t(x) * y >> 32); }
inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
inline unsigned __sad(int x, int y, unsigned z) {
    return z + (x > y ? unsigned(x) - unsigned(y) : unsigned(y) - unsigned(x));
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
inline int __hadd(int x, int y) { return int((int64_t(x) + y) >> 1); }
inline int __rhadd(int x, int y) { return int((int64_t(x) + y + 1) >> 1); }
inline unsigned __uhadd(unsigned x, unsigned y) { return unsigned((uint64_t(x) + y) >> 1); }
inline unsigned __urhadd(unsigned x, unsigned y) { return unsigned((uint64_t(x) + y + 1) >> 1); }
inline int __dp4a(int x, int y, int sum) {
    for (int i = 0; i < 32; i += 8) sum += int(int8_t(x >> i)) * int(int8_t(y >> i));
    return sum;
}
inline unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
    for (int i = 0; i < 32; i += 8) sum += (x >> i & 255) * (y >> i & 255);
    return sum;
}

// Four integers of 8 bits, or two of 16 bits, in a word

namespace warplab_cpu {
template <int bits, class Part, class Function>
WARPLAB_CPU_INLINE auto by_parts(unsigned x, unsigned y, Function function) {
    constexpr unsigned mask = bits == 8 ? 255 : 65535;
    unsigned result = 0;
    for (int i = 0; i < 32; i += bits) result |= (unsigned(function(int(Part(x >> i)), int(Part(y >> i)))) & mask) << i;
    return result;
}
WARPLAB_CPU_INLINE int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }
}  // namespace warplab_cpu
#define WARPLAB_CPU_PARTS(name, bits, part, expression)                                                 \
    inline unsigned name(unsigned a, unsigned b) {                                                      \
        return warplab_cpu::by_parts<bits, part>(a, b, [](int x, int y) -> int { return expression; }); \
    }
#define WARPLAB_CPU_SIMD(suffix, bits, sign, unsign, low, high, top)                      \
    WARPLAB_CPU_PARTS(__vadd##suffix, bits, unsign, x + y)                                \
    WARPLAB_CPU_PARTS(__vsub##suffix, bits, unsign, x - y)                                \
    WARPLAB_CPU_PARTS(__vaddss##suffix, bits, sign, warplab_cpu::clamp(x + y, low, high)) \
    WARPLAB_CPU_PARTS(__vaddus##suffix, bits, unsign, warplab_cpu::clamp(x + y, 0, top))  \
    WARPLAB_CPU_PARTS(__vsubss##suffix, bits, sign, warplab_cpu::clamp(x - y, low, high)) \
    WARPLAB_CPU_PARTS(__vsubus##suffix, bits, unsign, warplab_cpu::clamp(x - y, 0, top))  \
    WARPLAB_CPU_PARTS(__vabsdiffu##suffix, bits, unsign, x > y ? x - y : y - x)           \
    WARPLAB_CPU_PARTS(__vabsdiffs##suffix, bits, sign, x > y ? x - y : y - x)             \
    WARPLAB_CPU_PARTS(__vavgu##suffix, bits, unsign, (x + y + 1) >> 1)                    \
    WARPLAB_CPU_PARTS(__vavgs##suffix, bits, sign, (x + y + (x + y >= 0)) >> 1)           \
    WARPLAB_CPU_PARTS(__vhaddu##suffix, bits, unsign, (x + y) >> 1)                       \
    WARPLAB_CPU_PARTS(__vminu##suffix, bits, unsign, x < y ? x : y)                       \
    WARPLAB_CPU_PARTS(__vmaxu##suffix, bits, unsign, x > y ? x : y)                       \
    WARPLAB_CPU_PARTS(__vmins##suffix, bits, sign, x < y ? x : y)                         \
    WARPLAB_CPU_PARTS(__vmaxs##suffix, bits, sign, x > y ? x : y)                         \
    WARPLAB_CPU_PARTS(__vcmpeq##suffix, bits, unsign, x == y ? -1 : 0)                    \
    WARPLAB_CPU_PARTS(__vcmpne##suffix, bits, unsign, x != y ? -1 : 0)                    \
    WARPLAB_CPU_PARTS(__vcmpgeu##suffix, bits, unsign, x >= y ? -1 : 0)                   \
    WARPLAB_CPU_PARTS(__vcmpgtu##suffix, bits, unsign, x > y ? -1 : 0)                    \
    WARPLAB_CPU_PARTS(__vcmpleu##suffix, bits, unsign, x <= y ? -1 : 0)                   \
    WARPLAB_CPU_PARTS(__vcmpltu##suffix, bits, unsign, x < y ? -1 : 0)                    \
    WARPLAB_CPU_PARTS(__vcmpges##suffix, bits, sign, x >= y ? -1 : 0)                     \
    WARPLAB_CPU_PARTS(__vcmpgts##suffix, bits, sign, x > y ? -1 : 0)                      \
    WARPLAB_CPU_PARTS(__vcmples##suffix, bits, sign, x <= y ? -1 : 0)                     \
    WARPLAB_CPU_PARTS(__vcmplts##suffix, bits, sign, x < y ? -1 : 0)                      \
    WARPLAB_CPU_PARTS(__vseteq##suffix, bits, unsign, x == y)                             \
    WARPLAB_CPU_PARTS(__vsetne##suffix, bits, unsign, x != y)                             \
    WARPLAB_CPU_PARTS(__vsetgeu##suffix, bits, unsign, x >= y)                            \
    WARPLAB_CPU_PARTS(__vsetgtu##suffix, bits, unsign, x > y)                             \
    WARPLAB_CPU_PARTS(__vsetleu##suffix, bits, unsign, x <= y)                            \
    WARPLAB_CPU_PARTS(__vsetltu##suffix, bits, unsign, x < y)                             \
    WARPLAB_CPU_PARTS(__vsetges##suffix, bits, sign, x >= y)                              \
    WARPLAB_CPU_PARTS(__vsetgts##suffix, bits, sign, x > y)                               \
    WARPLAB_CPU_PARTS(__vsetles##suffix, bits, sign, x <= y)                              \
    WARPLAB_CPU_PARTS(__vsetlts##suffix, bits, sign, x < y)                               \
    inline unsigned __vneg##suffix(unsigned a) { return __vsub##suffix(0, a); }           \
    inline unsigned __vabs##suffix(unsigned a) { return __vabsdiffs##suffix(a, 0); }
WARPLAB_CPU_SIMD(4, 8, int8_t, uint8_t, -128, 127, 255)
WARPLAB_CPU_SIMD(2, 16, int16_t, uint16_t, -32768, 32767, 65535)
#undef WARPLAB_CPU_SIMD
#undef WARPLAB_CPU_PARTS
inline unsigned __vsadu4(unsigned a, unsigned b) {
    const unsigned d = __vabsdiffu4(a, b);
    return (d & 255) + (d >> 8 & 255) + (d >> 16 & 255) + (d >> 24);
}
inline unsigned __vsadu2(unsigned a, unsigned b) {
    const unsigned d = __vabsdiffu2(a, b);
    return (d & 65535) + (d >> 16);
}

// Reinterpretation of the bits as another type

namespace warplab_cpu {
template <class To, class From>
WARPLAB_CPU_INLINE auto same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof(to));
    return to;
}
}  // namespace warplab_cpu
inline int __float_as_int(float x) { return warplab_cpu::same_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return warplab_cpu::same_bits<unsigned>(x); }
inline float __int_as_float(int x) { return warplab_cpu::same_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return warplab_cpu::same_bits<float>(x); }
inline long long __double_as_longlong(double x) { return warplab_cpu::same_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return warplab_cpu::same_bits<double>(x); }
inline int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return int(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((uint64_t)(unsigned)high << 32 | (unsigned)low));
}

// Conversions: a value out of range becomes the nearest value in range. As on a GPU, a NaN becomes 0 if both types have
// 32 bits; otherwise, only the highest bit of the result is set.

namespace warplab_cpu {
template <class To, class From>
WARPLAB_CPU_INLINE auto to_integer(From rounded) {
    constexpr To low = To(-1) < To(0) ? To(To(1) << (sizeof(To) * 8 - 1)) : To(0), high = To(~low);
    if (rounded != rounded) return sizeof(From) == 4 && sizeof(To) == 4 ? To(0) : To(To(1) << (sizeof(To) * 8 - 1));
    if (rounded < From(low)) return low;
    if (rounded >= From(high)) return high;
    return To(rounded);
}
}  // namespace warplab_cpu
#define WARPLAB_CPU_TO_INTEGER(from, to, name, suffix)                                                 \
    inline to __##from##2##name##_rn(from x) { return warplab_cpu::to_integer<to>(rint##suffix(x)); }  \
    inline to __##from##2##name##_rz(from x) { return warplab_cpu::to_integer<to>(trunc##suffix(x)); } \
    inline to __##from##2##name##_ru(from x) { return warplab_cpu::to_integer<to>(ceil##suffix(x)); }  \
    inline to __##from##2##name##_rd(from x) { return warplab_cpu::to_integer<to>(floor##suffix(x)); }
#define WARPLAB_CPU_TO_INTEGERS(from, suffix)            \
    WARPLAB_CPU_TO_INTEGER(from, int, int, suffix)       \
    WARPLAB_CPU_TO_INTEGER(from, unsigned, uint, suffix) \
    WARPLAB_CPU_TO_INTEGER(from, long long, ll, suffix)  \
    WARPLAB_CPU_TO_INTEGER(from, unsigned long long, ull, suffix)
WARPLAB_CPU_TO_INTEGERS(float, f)
WARPLAB_CPU_TO_INTEGERS(double, )
#undef WARPLAB_CPU_TO_INTEGERS
#undef WARPLAB_CPU_TO_INTEGER

// Directed rounding: compute the nearest result, and change it by one unit in the last place if it lies on the wrong
// side of the exact value.
namespace warplab_cpu {
enum class Towards { zero, up, down };
inline float rounded_float(double exact, Towards towards) {
    const float nearest = float(exact);
    if (towards == Towards::zero) towards = exact > 0 ? Towards::down : Towards::up;
    if (towards == Towards::up && double(nearest) < exact) return nextafterf(nearest, INFINITY);
    if (towards == Towards::down && double(nearest) > exact) return nextafterf(nearest, -INFINITY);
    return nearest;
}
template <class T>
WARPLAB_CPU_INLINE auto kept(T x) {  // not fused with the operation that uses it
#if defined(__aarch64__)
    __asm__("" : "+w"(x));
#endif
    return x;
}
}  // namespace warplab_cpu
inline float __fadd_rn(float x, float y) { return warplab_cpu::kept(x + y); }
inline float __fsub_rn(float x, float y) { return warplab_cpu::kept(x - y); }
inline float __fmul_rn(float x, float y) { return warplab_cpu::kept(x * y); }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return float(1.0 / sqrt(double(x))); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return warplab_cpu::kept(x + y); }
inline double __dsub_rn(double x, double y) { return warplab_cpu::kept(x - y); }
inline double __dmul_rn(double x, double y) { return warplab_cpu::kept(x * y); }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
#define WARPLAB_CPU_ROUNDED(mode, towards)                                                                      \
    inline float __fadd_##mode(float x, float y) { return warplab_cpu::rounded_float(double(x) + y, towards); } \
    inline float __fsub_##mode(float x, float y) { return warplab_cpu::rounded_float(double(x) - y, towards); } \
    inline float __fmul_##mode(float x, float y) { return warplab_cpu::rounded_float(double(x) * y, towards); } \
    inline float __fdiv_##mode(float x, float y) { return warplab_cpu::rounded_float(double(x) / y, towards); } \
    inline float __frcp_##mode(float x) { return warplab_cpu::rounded_float(1.0 / x, towards); }                \
    inline float __fsqrt_##mode(float x) { return warplab_cpu::rounded_float(sqrt(double(x)), towards); }       \
    inline float __fmaf_##mode(float x, float y, float z) {                                                     \
        return warplab_cpu::rounded_float(fma(double(x), double(y), double(z)), towards);                       \
    }                                                                                                           \
    inline float __double2float_##mode(double x) { return warplab_cpu::rounded_float(x, towards); }             \
    inline float __int2float_##mode(int x) { return warplab_cpu::rounded_float(double(x), towards); }           \
    inline float __uint2float_##mode(unsigned x) { return warplab_cpu::rounded_float(double(x), towards); }
WARPLAB_CPU_ROUNDED(rz, warplab_cpu::Towards::zero)
WARPLAB_CPU_ROUNDED(ru, warplab_cpu::Towards::up)
WARPLAB_CPU_ROUNDED(rd, warplab_cpu::Towards::down)
#undef WARPLAB_CPU_ROUNDED
inline float __double2float_rn(double x) { return float(x); }
inline float __int2float_rn(int x) { return float(x); }
inline float __uint2float_rn(unsigned x) { return float(x); }
inline float __ll2float_rn(long long x) { return float(x); }
inline float __ull2float_rn(unsigned long long x) { return float(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return double(x); }
inline double __ull2double_rn(unsigned long long x) { return double(x); }

// Fast and rare functions

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float fdividef(float x, float y) { return x / y; }
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return powf(10.0f, x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float* sine, float* cosine) {
    *sine = sinf(x);
    *cosine = cosf(x);
}
inline double sinpi(double x) { return sin(3.14159265358979323846 * fmod(x, 2.0)); }
inline double cospi(double x) { return cos(3.14159265358979323846 * fmod(x, 2.0)); }
inline float sinpif(float x) { return float(sinpi(x)); }
inline float cospif(float x) { return float(cospi(x)); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }

inline void sincospi(double x, double* sine, double* cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}
inline double norm4d(double a, double b, double c, double d) { return sqrt(a * a + b * b + c * c + d * d); }
inline float norm4df(float a, float b, float c, float d) { return sqrtf(a * a + b * b + c * c + d * d); }
inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
inline float rnorm4df(float a, float b, float c, float d) { return 1.0f / norm4df(a, b, c, d); }
inline double norm(int count, const double* values) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += values[i] * values[i];
    return sqrt(sum);
}
inline float normf(int count, const float* values) {
    float sum = 0;
    for (int i = 0; i < count; ++i) sum += values[i] * values[i];
    return sqrtf(sum);
}
inline double rnorm(int count, const double* values) { return 1.0 / norm(count, values); }
inline float rnormf(int count, const float* values) { return 1.0f / normf(count, values); }

// Directed rounding of doubles, in the same way. The sign of the error (the exact result minus the nearest double)
// shows on which side of the double the exact result lies.
namespace warplab_cpu {
inline double rounded_double(double nearest, double error, Towards towards) {
    if (towards == Towards::zero) towards = nearest > 0 ? Towards::down : Towards::up;
    if (towards == Towards::up && error > 0) return nextafter(nearest, INFINITY);
    if (towards == Towards::down && error < 0) return nextafter(nearest, -INFINITY);
    return nearest;
}
template <class Integer>
auto rounded_float(Integer exact, Towards towards) {
    const float nearest = float(exact);
    const __int128 error = (__int128)exact - (__int128)nearest;
    if (towards == Towards::zero) towards = nearest > 0 ? Towards::down : Towards::up;
    if (towards == Towards::up && error > 0) return nextafterf(nearest, INFINITY);
    if (towards == Towards::down && error < 0) return nextafterf(nearest, -INFINITY);
    return nearest;
}
inline double rounded_sum(double x, double y, Towards towards) {
    const double sum = kept(x + y), part = kept(sum - x);
    return rounded_double(sum, kept(x - kept(sum - part)) + kept(y - part), towards);
}
inline double rounded_product(double x, double y, Towards towards) {
    return rounded_double(x * y, fma(x, y, -(x * y)), towards);
}
/// The error of x / y has the sign of the remainder divided by y.
inline double rounded_quotient(double x, double y, Towards towards) {
    const double quotient = x / y, rest = fma(-quotient, y, x);
    return rounded_double(quotient, y > 0 ? rest : -rest, towards);
}
inline double rounded_root(double x, Towards towards) {
    return rounded_double(sqrt(x), fma(-sqrt(x), sqrt(x), x), towards);
}
}  // namespace warplab_cpu
#define WARPLAB_CPU_ROUNDED(mode, towards)                                                                   \
    inline double __dadd_##mode(double x, double y) { return warplab_cpu::rounded_sum(x, y, towards); }      \
    inline double __dsub_##mode(double x, double y) { return warplab_cpu::rounded_sum(x, -y, towards); }     \
    inline double __dmul_##mode(double x, double y) { return warplab_cpu::rounded_product(x, y, towards); }  \
    inline double __ddiv_##mode(double x, double y) { return warplab_cpu::rounded_quotient(x, y, towards); } \
    inline double __drcp_##mode(double x) { return warplab_cpu::rounded_quotient(1, x, towards); }           \
    inline double __dsqrt_##mode(double x) { return warplab_cpu::rounded_root(x, towards); }                 \
    inline float __ll2float_##mode(long long x) { return warplab_cpu::rounded_float(x, towards); }           \
    inline float __ull2float_##mode(unsigned long long x) { return warplab_cpu::rounded_float(x, towards); } \
    inline double __ll2double_##mode(long long x) {                                                          \
        return warplab_cpu::rounded_double(double(x), double((__int128)x - (__int128)double(x)), towards);   \
    }                                                                                                        \
    inline double __ull2double_##mode(unsigned long long x) {                                                \
        return warplab_cpu::rounded_double(double(x), double((__int128)x - (__int128)double(x)), towards);   \
    }
WARPLAB_CPU_ROUNDED(rz, warplab_cpu::Towards::zero)
WARPLAB_CPU_ROUNDED(ru, warplab_cpu::Towards::up)
WARPLAB_CPU_ROUNDED(rd, warplab_cpu::Towards::down)
#undef WARPLAB_CPU_ROUNDED

// Loads and stores with a cache hint

#define WARPLAB_CPU_LOAD(name)                    \
    template <class T>                            \
    WARPLAB_CPU_INLINE T name(const T* address) { \
        return *address;                          \
    }
WARPLAB_CPU_LOAD(__ldg)
WARPLAB_CPU_LOAD(__ldca)
WARPLAB_CPU_LOAD(__ldcg)
WARPLAB_CPU_LOAD(__ldcs)
WARPLAB_CPU_LOAD(__ldlu)
WARPLAB_CPU_LOAD(__ldcv)
#undef WARPLAB_CPU_LOAD
namespace warplab_cpu {
template <class T>
struct NotDeduced {  // the type of a parameter, without deduction from the argument
    using type = T;
};
}  // namespace warplab_cpu
#define WARPLAB_CPU_STORE(name)                                                                 \
    template <class T>                                                                          \
    WARPLAB_CPU_INLINE void name(T* address, typename warplab_cpu::NotDeduced<T>::type value) { \
        *address = value;                                                                       \
    }
WARPLAB_CPU_STORE(__stwb)
WARPLAB_CPU_STORE(__stcg)
WARPLAB_CPU_STORE(__stcs)
WARPLAB_CPU_STORE(__stwt)
#undef WARPLAB_CPU_STORE

inline long long clock64() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}
[[noreturn]] __attribute__((visibility("default"))) void __trap();
[[noreturn]] inline void __brkpt() { __trap(); }
