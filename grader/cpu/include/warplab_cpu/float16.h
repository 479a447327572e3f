#pragma once
// Floating-point numbers of 16 bits. Each operation computes a double, which is exact or wrong only in its last bit,
// and rounds once.

#include <math.h>
#include <stdint.h>

#include "arithmetic.h"
#include "atomics.h"
#include "sync.h"
#include "types.h"

namespace warplab_cpu {

enum class Rounding { nearest, zero, up, down };

/// The layout of a format: a sign, an exponent, a fraction.
template <int ExponentBits, int FractionBits>
struct Float16Format {
    static constexpr int fraction_bits = FractionBits, bias = (1 << (ExponentBits - 1)) - 1;
    static constexpr int max_exponent = (1 << ExponentBits) - 1;  // the exponent of infinities and NaNs
    static constexpr unsigned short infinity = max_exponent << FractionBits;
    static constexpr unsigned short one = bias << FractionBits, not_a_number = 0x7fff, sign = 0x8000;
};
using HalfFormat = Float16Format<5, 10>;
using Bfloat16Format = Float16Format<8, 7>;

WARPLAB_CPU_INLINE bool rounds_away(Rounding rounding, bool negative) {
    return rounding == (negative ? Rounding::down : Rounding::up);
}

/// Return the bits of the number to which a double rounds in the format.
template <class Format>
inline unsigned short encode(double value, Rounding rounding = Rounding::nearest) {
    constexpr uint64_t double_infinity = uint64_t{0x7ff} << 52, fraction_mask = (uint64_t{1} << 52) - 1;
    const auto bits = same_bits<uint64_t>(value), magnitude = bits & ~(uint64_t{1} << 63);
    const bool negative = bits >> 63;
    const unsigned sign = negative ? Format::sign : 0;
    if (magnitude >= double_infinity)
        return magnitude > double_infinity ? Format::not_a_number
                                           : static_cast<unsigned short>(sign | Format::infinity);
    if (magnitude == 0) return static_cast<unsigned short>(sign);
    const int exponent = int(magnitude >> 52) - 1023 + Format::bias;
    if (exponent >= Format::max_exponent) {
        const bool to_infinity = rounding == Rounding::nearest || rounds_away(rounding, negative);
        return static_cast<unsigned short>(sign | (Format::infinity - !to_infinity));
    }
    uint64_t wide = magnitude - (uint64_t{1023 - Format::bias} << 52);
    int shift = 52 - Format::fraction_bits;
    if (exponent < 1) {  // subnormal
        wide = (magnitude & fraction_mask) | (fraction_mask + 1);
        shift = shift + 1 - exponent < 63 ? shift + 1 - exponent : 63;
    }
    const uint64_t code = wide >> shift, rest = wide << (64 - shift), middle = uint64_t{1} << 63;
    const bool up = rounding == Rounding::nearest ? rest > middle || (rest == middle && (code & 1))
                                                  : rest != 0 && rounds_away(rounding, negative);
    return static_cast<unsigned short>(sign | (code + up));
}

/// Return the number that has these bits in the format.
template <class Format>
inline float decode(unsigned short bits) {
    if constexpr (Format::fraction_bits == Bfloat16Format::fraction_bits) {
        return same_bits<float>(uint32_t{bits} << 16);
    } else {
        const uint32_t magnitude = bits & 0x7fffu, sign = uint32_t{bits} << 16 & 0x80000000u;
        if (magnitude > Format::infinity) return same_bits<float>(uint32_t{0x7fffffff});
        if (magnitude == Format::infinity) return same_bits<float>(sign | 0x7f800000u);
        constexpr float scale = 0x1p112f;  // the difference of the exponents' biases
        return same_bits<float>(sign | magnitude << 13) * scale;
    }
}

/// Make the last bit of an inexact sum 1, so that rounding it to fewer bits gives the same result as rounding the exact
/// sum.
WARPLAB_CPU_INLINE double rounded_to_odd(double sum, double error) {
    const auto bits = same_bits<uint64_t>(sum);
    if (!(error > 0 || error < 0) || (bits & 1)) return sum;
    return same_bits<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}
WARPLAB_CPU_INLINE double odd_sum(double x, double y) {
    const double sum = kept(x + y), part = kept(sum - x);
    return rounded_to_odd(sum, kept(x - kept(sum - part)) + kept(y - part));
}
/// Return x * y + z, rounded to odd. x * y must be exact, as is the product of two numbers of 16 bits.
WARPLAB_CPU_INLINE double odd_fused(double x, double y, double z) { return odd_sum(kept(x * y), z); }
template <class Integer>
WARPLAB_CPU_INLINE double odd_double(Integer value) {
    if constexpr (sizeof(Integer) < 8) {
        return double(value);
    } else {
        const double nearest = double(value);
        return rounded_to_odd(nearest, double((__int128)value - (__int128)nearest));
    }
}

/// Convert a rounded value. A NaN becomes 0 or, if the integer has 64 bits, the integer with only the highest bit set.
template <class Integer>
WARPLAB_CPU_INLINE Integer integer_of(double rounded) {
    if (rounded != rounded && sizeof(Integer) < 8) return 0;
    return to_integer<Integer>(rounded);
}

inline double round_towards(double value, Rounding rounding) {
    switch (rounding) {
        case Rounding::nearest:
            return rint(value);
        case Rounding::zero:
            return trunc(value);
        case Rounding::up:
            return ceil(value);
        case Rounding::down:
            break;
    }
    return floor(value);
}

}  // namespace warplab_cpu
