"""CUDA's functions by name, implemented in numpy according to the programming guide.

Parameters and results are arrays of the types that `signatures.py` lists.
"""

from __future__ import annotations

import numpy as np

U32, U64 = np.uint32, np.uint64


def popcount(x: np.ndarray) -> np.ndarray:
    x = x.astype(U64)
    total = np.zeros(x.shape, np.int32)
    for shift in range(64):
        total += (x >> U64(shift) & U64(1)).astype(np.int32)
    return total


def leading_zeros(x: np.ndarray, width: int) -> np.ndarray:
    zeros, leading = np.zeros(x.shape, np.int32), np.ones(x.shape, bool)
    for shift in reversed(range(width)):
        leading &= (x >> U64(shift) & U64(1)) == 0
        zeros += leading
    return zeros


def first_set(x: np.ndarray, width: int) -> np.ndarray:
    positions = np.zeros(x.shape, np.int32)
    for shift in reversed(range(width)):
        positions = np.where(x >> U64(shift) & U64(1), np.int32(shift + 1), positions)
    return positions.astype(np.int32)


def reverse(x: np.ndarray, width: int) -> np.ndarray:
    result = np.zeros(x.shape, U64)
    for shift in range(width):
        result |= (x >> U64(shift) & U64(1)) << U64(width - 1 - shift)
    return result


def byte_perm(x: np.ndarray, y: np.ndarray, selector: np.ndarray) -> np.ndarray:
    both, result = y.astype(U64) << U64(32) | x.astype(U64), np.zeros(x.shape, U64)
    for i in range(4):
        choice = selector.astype(U64) >> U64(4 * i) & U64(7)
        result |= (both >> choice * U64(8) & U64(255)) << U64(8 * i)
    return result.astype(U32)


def funnel(low: np.ndarray, high: np.ndarray, shift: np.ndarray, left: bool, clamp: bool) -> np.ndarray:
    both, shift = high.astype(U64) << U64(32) | low.astype(U64), shift.astype(U64)
    shift = np.minimum(shift, U64(32)) if clamp else shift & U64(31)
    if not left:
        return (both >> shift).astype(U32)
    return np.where(shift == 32, both, both << shift >> U64(32)).astype(U32)


def high_product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the upper 64 bits of the products of uint64."""
    low = U64(0xFFFFFFFF)
    a, b, c, d = x >> U64(32), x & low, y >> U64(32), y & low
    middle = (b * d >> U64(32)) + (a * d & low) + (b * c & low)
    return a * c + (a * d >> U64(32)) + (b * c >> U64(32)) + (middle >> U64(32))


def signed_high_product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    high = high_product(x.view(U64), y.view(U64))
    high = high - np.where(x < 0, y.view(U64), U64(0)) - np.where(y < 0, x.view(U64), U64(0))
    return high.view(np.int64)


def sign_extended(x: np.ndarray, width: int) -> np.ndarray:
    shift = np.int64(64 - width)
    return x.astype(np.int64) << shift >> shift


def dp4a(x: np.ndarray, y: np.ndarray, total: np.ndarray) -> np.ndarray:
    result = total.astype(np.int64)
    for shift in (0, 8, 16, 24):
        part = [sign_extended(v.astype(np.int64) >> np.int64(shift), 8) for v in (x, y)]
        result = result + part[0] * part[1]
    return result.astype(np.int32)


def by_parts(x: np.ndarray, y: np.ndarray, width: int, signed: bool, change) -> np.ndarray:
    result, mask = np.zeros(x.shape, np.int64), np.int64((1 << width) - 1)
    for shift in range(0, 32, width):
        a, b = ((v.astype(np.int64) >> np.int64(shift)) & mask for v in (x, y))
        if signed:
            a, b = sign_extended(a, width), sign_extended(b, width)
        result |= (change(a, b).astype(np.int64) & mask) << np.int64(shift)
    return result.astype(U32)


def fused(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return x * y + z, rounded once: the sum in double is rounded to odd, and then to float."""
    product, z = x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)
    total = product + z
    part = total - product
    error = (product - (total - part)) + (z - part)
    inexact = np.isfinite(total) & (error != 0) & ((total.view(np.int64) & 1) == 0)
    towards = np.where(error > 0, np.inf, -np.inf)
    return np.where(inexact, np.nextafter(total, towards), total).astype(np.float32)


def truncated_product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    exact = x.astype(np.float64) * y.astype(np.float64)
    nearest = exact.astype(np.float32)
    beyond = np.abs(nearest.astype(np.float64)) > np.abs(exact)
    return np.where(beyond, np.nextafter(nearest, np.float32(0)), nearest)


def truncated_float(x: np.ndarray) -> np.ndarray:
    nearest = x.astype(np.float32)
    beyond = np.abs(nearest.astype(np.float64)) > np.abs(x.astype(np.float64))
    return np.where(beyond, np.nextafter(nearest, np.float32(0)), nearest)


def to_integer(x: np.ndarray, dtype: type, rounding) -> np.ndarray:
    """Convert as the device does: a value out of range becomes the type's nearest number, and NaN becomes 0."""
    limits = np.iinfo(dtype)
    rounded = rounding(x.astype(np.float64))
    inside = np.clip(np.nan_to_num(rounded), float(limits.min), float(limits.max))
    result = np.where(
        inside >= float(limits.max), limits.max, np.where(inside < float(limits.max), inside, 0).astype(dtype)
    )
    return result.astype(dtype)


def plain(x: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x), x.dtype.type(0), x + x.dtype.type(0))


FUNCTIONS = {
    "__popc": popcount,
    "__popcll": popcount,
    "__clz": lambda x: leading_zeros(x.view(U32).astype(U64), 32),
    "__clzll": lambda x: leading_zeros(x.view(U64), 64),
    "__ffs": lambda x: first_set(x.view(U32).astype(U64), 32),
    "__ffsll": lambda x: first_set(x.view(U64), 64),
    "__brev": lambda x: reverse(x.astype(U64), 32).astype(U32),
    "__brevll": lambda x: reverse(x, 64),
    "__byte_perm": byte_perm,
    "__funnelshift_l": lambda low, high, s: funnel(low, high, s, True, False),
    "__funnelshift_r": lambda low, high, s: funnel(low, high, s, False, False),
    "__funnelshift_lc": lambda low, high, s: funnel(low, high, s, True, True),
    "__funnelshift_rc": lambda low, high, s: funnel(low, high, s, False, True),
    "__mulhi": lambda x, y: (x.astype(np.int64) * y.astype(np.int64) >> np.int64(32)).astype(np.int32),
    "__umulhi": lambda x, y: (x.astype(U64) * y.astype(U64) >> U64(32)).astype(U32),
    "__mul64hi": signed_high_product,
    "__umul64hi": high_product,
    "__mul24": lambda x, y: (sign_extended(x, 24) * sign_extended(y, 24)).astype(np.int32),
    "__umul24": lambda x, y: ((x.astype(U64) & U64(0xFFFFFF)) * (y.astype(U64) & U64(0xFFFFFF))).astype(U32),
    "__dp4a": dp4a,
    "__sad": lambda x, y, z: (np.abs(x.astype(np.int64) - y.astype(np.int64)) + z.astype(np.int64)).astype(U32),
    "__usad": lambda x, y, z: (np.abs(x.astype(np.int64) - y.astype(np.int64)) + z.astype(np.int64)).astype(U32),
    "__hadd": lambda x, y: (x.astype(np.int64) + y.astype(np.int64) >> np.int64(1)).astype(np.int32),
    "__rhadd": lambda x, y: (x.astype(np.int64) + y.astype(np.int64) + 1 >> np.int64(1)).astype(np.int32),
    "__uhadd": lambda x, y: (x.astype(U64) + y.astype(U64) >> U64(1)).astype(U32),
    "__vadd4": lambda x, y: by_parts(x, y, 8, False, lambda a, b: a + b),
    "__vsub2": lambda x, y: by_parts(x, y, 16, False, lambda a, b: a - b),
    "__vmaxu4": lambda x, y: by_parts(x, y, 8, False, np.maximum),
    "__vabsdiffu4": lambda x, y: by_parts(x, y, 8, False, lambda a, b: np.abs(a - b)),
    "__vcmpgtu4": lambda x, y: by_parts(x, y, 8, False, lambda a, b: -(a > b).astype(np.int64)),
    "__vavgu4": lambda x, y: by_parts(x, y, 8, False, lambda a, b: (a + b + 1) >> np.int64(1)),
    "__vaddss2": lambda x, y: by_parts(x, y, 16, True, lambda a, b: np.clip(a + b, -32768, 32767)),
    "__float_as_int": lambda x: x.view(np.int32),
    "__float_as_uint": lambda x: x.view(U32),
    "__double_as_longlong": lambda x: x.view(np.int64),
    "__float2int_rn": lambda x: to_integer(x, np.int32, np.rint),
    "__float2int_rz": lambda x: to_integer(x, np.int32, np.trunc),
    "__float2int_ru": lambda x: to_integer(x, np.int32, np.ceil),
    "__float2int_rd": lambda x: to_integer(x, np.int32, np.floor),
    "__float2uint_rz": lambda x: to_integer(x, U32, np.trunc),
    "__double2int_rn": lambda x: to_integer(x, np.int32, np.rint),
    "__double2ll_rz": lambda x: to_integer(x, np.int64, np.trunc),
    "__int2float_rn": lambda x: x.astype(np.float32),
    "__int2float_rz": truncated_float,
    "__uint2float_rn": lambda x: x.astype(np.float32),
    "__ll2float_rn": lambda x: x.astype(np.float32),
    "__ull2double_rn": lambda x: x.astype(np.float64),
    "__ll2double_rn": lambda x: x.astype(np.float64),
    "min": np.fmin,
    "max": np.fmax,
    "abs": lambda x: np.abs(x),
    "plain": plain,
    "fmaf": fused,
    "sqrtf": np.sqrt,
    "sqrt": np.sqrt,
    "fabsf": np.abs,
    "floorf": np.floor,
    "ceilf": np.ceil,
    "truncf": np.trunc,
    "rintf": np.rint,
    "fminf": np.fmin,
    "fmaxf": np.fmax,
    "__fadd_rn": lambda x, y: x + y,
    "__fmul_rn": lambda x, y: x * y,
    "__fmul_rz": truncated_product,
    "__fdiv_rn": lambda x, y: x / y,
    "__fsqrt_rn": np.sqrt,
    "__dadd_rn": lambda x, y: x + y,
}
