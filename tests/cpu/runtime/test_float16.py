"""Each function of cuda_fp16.h and cuda_bf16.h gives the exact result, rounded once.

The reference rounds an exact value, given as two doubles, by searching a table of all numbers of the format; float16.h
works on bits. Where NVIDIA's headers are installed, their functions for the host give the same bits, except for the
maximum and the minimum of two zeros.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.cpu.runtime.programs import build_target
from tests.share import ALL_ROWS

ROOT = Path(__file__).resolve().parents[3]
BUILD = os.environ.get("BUILD") or "build"
NVCC = shutil.which("nvcc")
CUDA = Path(os.path.realpath(NVCC)).parents[1] / "include" if NVCC else Path("/nonexistent")

QUIET_NAN = 0x7FFF
pytestmark = [
    pytest.mark.skipif(not ALL_ROWS, reason="compiles for a minute: ONLY=float16 runs it"),
    pytest.mark.skipif(not (ROOT / BUILD / "cpu/rewrite").exists(), reason="build/cpu/rewrite is missing"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # of NaNs
]


class Format:
    """A 16-bit format, and the folder with the results of its functions."""

    def __init__(self, name: str, folder: Path):
        self.name, self.folder = name, folder
        self.infinity = 0x7C00 if name == "__half" else 0x7F80
        table = self.value(np.arange(self.infinity, dtype=np.uint64))
        self.table = np.append(table, 2 * table[-1] - table[-2])  # the last number represents infinity

    def bits(self, function: str) -> np.ndarray:
        return np.fromfile(self.folder / f"{self.name}.{function}", dtype=np.uint64)

    def value(self, bits: np.ndarray) -> np.ndarray:
        if self.name == "__half":
            return bits.astype(np.uint16).view(np.float16).astype(np.float64)
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)

    def inputs(self, name: str, function: str) -> np.ndarray:
        """Return the values of an input in all cases of a function."""
        return self.value(self.bits(name)[: len(self.bits(function))])

    def rounded(self, near: np.ndarray, rest: np.ndarray | float = 0.0, mode: str = "rn") -> np.ndarray:
        """Return the bits of the format's number for the exact value near + rest, where near is that value's nearest
        double."""
        near, rest = np.broadcast_arrays(np.asarray(near, np.float64), np.nan_to_num(np.asarray(rest, np.float64)))
        negative = np.signbit(near)
        size, rest = np.abs(near), np.where(negative, -rest, rest)
        low = np.searchsorted(self.table, size, side="right") - 1
        low = np.where((self.table[low] == size) & (rest < 0), low - 1, low).clip(0, self.infinity)
        high = (low + 1).clip(0, self.infinity)
        exact = ((self.table[low] == size) & (rest == 0)) | (low == self.infinity)
        middle = (self.table[low] + self.table[high]) / 2
        above = (size > middle) | ((size == middle) & (rest > 0))
        tie = (size == middle) & (rest == 0)
        up = {"rn": above | (tie & (low % 2 == 1)), "rz": size < 0, "ru": ~negative, "rd": negative}[mode]
        bits = np.where(exact | ~up, low, high)
        overflow = (low == self.infinity) & np.isfinite(near)
        to_infinity = {"rn": True, "rz": False, "ru": ~negative, "rd": negative}[mode]
        bits = np.where(overflow & ~np.asarray(to_infinity), self.infinity - 1, bits)
        bits = bits | np.where(negative, 0x8000, 0)
        return np.where(np.isnan(near), QUIET_NAN, bits).astype(np.uint64)


@pytest.fixture(scope="module")
def formats(tmp_path_factory) -> dict[str, Format]:
    program = build_target("native/float16")
    folder = tmp_path_factory.mktemp("results")
    subprocess.run([program, folder], cwd=ROOT, check=True)
    return {name: Format(name, folder) for name in ("__half", "__nv_bfloat16")}


def assert_equal(fmt: Format, function: str, expected: np.ndarray) -> None:
    actual = fmt.bits(function)
    wrong = np.flatnonzero(actual != expected[: len(actual)].astype(np.uint64))
    first = [(int(i), hex(actual[i]), hex(int(expected[i]))) for i in wrong[:3]]
    assert not len(wrong), f"{fmt.name} {function}: {len(wrong)} of {len(actual)} differ: {first}"


@pytest.fixture(params=["__half", "__nv_bfloat16"])
def fmt(formats, request) -> Format:
    return formats[request.param]


def two_sum(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the double nearest to x + y, and the rest of the exact sum."""
    near = x + y
    part = near - x
    return near, (x - (near - part)) + (y - part)


def split(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the double nearest to a wider number, and the rest."""
    near = value.astype(np.float64)
    return near, (value - near).astype(np.float64)


def saturated(fmt: Format, bits: np.ndarray) -> np.ndarray:
    value = fmt.value(bits)
    one = fmt.rounded(np.float64(1))
    return np.where(value > 0, np.where(value < 1, bits, one), 0).astype(np.uint64)


def test_conversions_from_numbers(fmt):
    with np.errstate(all="ignore"):
        floats = fmt.bits("float").astype(np.uint32).view(np.float32).astype(np.float64)
        doubles = fmt.bits("double").view(np.float64)
    assert_equal(fmt, "of_double", fmt.rounded(doubles))
    assert_equal(fmt, "of_float", fmt.rounded(floats))
    assert_equal(fmt, "of_same_float", fmt.rounded(fmt.inputs("a", "of_same_float")))
    for mode in ROUNDINGS:
        assert_equal(fmt, f"of_float_{mode}", fmt.rounded(floats, mode=mode))
    for name, kind in INTEGERS.items():
        exact = fmt.bits("word").astype(kind)
        near = exact.astype(np.float64)
        rest = np.array([int(a) - int(b) for a, b in zip(exact, near, strict=True)], np.float64)
        for mode in ROUNDINGS:
            assert_equal(fmt, f"of_{name}_{mode}", fmt.rounded(near, rest, mode))


ROUNDINGS = ("rn", "rz", "ru", "rd")


INTEGERS = {
    "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64,
}  # fmt: skip


def integers(value: np.ndarray, kind: type) -> np.ndarray:
    """Convert as the device does: values out of range become the nearest number; a NaN becomes 0 or, for 64 bits, the
    number with only the highest bit set."""
    limits = np.iinfo(kind)
    nan = 0 if limits.bits < 64 else 1 << 63
    exact = [
        nan if v != v else limits.max if v >= limits.max else limits.min if v <= limits.min else int(v) for v in value
    ]
    return np.array([number % (1 << 64) for number in exact], np.uint64)


def test_conversions_to_numbers(fmt):
    value = fmt.inputs("a", "int_of_rn")
    for mode, function in {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}.items():
        for name, kind in INTEGERS.items():
            assert_equal(fmt, f"{name}_of_{mode}", integers(function(value), kind))
    for name, kind in {"char_of": np.int8, "uchar_of": np.uint8, "as_char": np.int8, "as_long": np.int64}.items():
        assert_equal(fmt, name, integers(np.trunc(value), kind))
    assert_equal(fmt, "as_unsigned_long", integers(np.trunc(value), np.uint64))
    assert_equal(fmt, "as_bool", ~(value == 0))
    bits = value.astype(np.float32).view(np.uint32)
    nan = np.full(len(bits), 0x7FFFFFFF) if fmt.name == "__half" else fmt.bits("a")[: len(bits)] << 16
    assert_equal(fmt, "float_of", np.where(np.isnan(value), nan, bits))


ARITHMETIC = {"add": lambda a, b: two_sum(a, b), "sub": lambda a, b: two_sum(a, -b), "mul": lambda a, b: (a * b, 0.0)}


def test_arithmetic(fmt):
    a, b, c = (fmt.value(fmt.bits(name)) for name in "abc")
    for name, exact in ARITHMETIC.items():
        x, y = (fmt.rounded(*exact(*pair)) for pair in ((a, b), (b, c)))
        for suffix in ("", "_rn"):
            assert_equal(fmt, f"h{name}{suffix}", x)
            assert_equal(fmt, f"h{name}2{suffix}", y << np.uint64(16) | x)
        assert_equal(fmt, f"h{name}_sat", saturated(fmt, x))
        assert_equal(fmt, f"h{name}2_sat", saturated(fmt, y) << np.uint64(16) | saturated(fmt, x))
    quotient = split(a.astype(np.longdouble) / b.astype(np.longdouble))
    for name in ("hdiv", "divided"):
        assert_equal(fmt, name, fmt.rounded(*quotient))
    assert_equal(fmt, "hfma", fmt.rounded(*two_sum(a * b, c)))
    assert_equal(fmt, "hfma_sat", saturated(fmt, fmt.rounded(*two_sum(a * b, c))))
    relu = fmt.rounded(*two_sum(a * b, c))
    assert_equal(fmt, "hfma_relu", np.where(fmt.value(relu) <= 0, 0, relu))


def test_functions_of_pairs_equal_those_of_halves(fmt):
    results = {
        name: fmt.bits(name)
        for name in ("hfma", "hfma_sat", "hfma_relu", "hmax", "hmin", "hmax_nan", "hmin_nan", "hdiv")
    }
    for name, halves in results.items():
        pair = name.replace("_", "2_") if "_" in name else "h2div" if name == "hdiv" else f"{name}2"
        assert (fmt.bits(pair) & np.uint64(0xFFFF) == halves).all(), pair


def test_minimum_maximum_sign_and_special_values(fmt):
    bits_a, bits_b = fmt.bits("a"), fmt.bits("b")
    a, b = fmt.value(bits_a), fmt.value(bits_b)
    # -0 is smaller than 0
    order_a, order_b = (np.where(np.signbit(v), -1.0, 1.0) * (np.abs(v) + 2.0**-200) for v in (a, b))
    for name, takes_first in (("max", order_a > order_b), ("min", order_a < order_b)):
        chosen = np.where(takes_first, bits_a, bits_b)
        either, both = np.isnan(a) | np.isnan(b), np.isnan(a) & np.isnan(b)
        assert_equal(fmt, f"h{name}_nan", np.where(either, QUIET_NAN, chosen))
        number = np.where(np.isnan(a), bits_b, bits_a)
        assert_equal(fmt, f"h{name}", np.where(both, QUIET_NAN, np.where(either, number, chosen)))
    values = fmt.inputs("a", "abs")
    bits = bits_a[: len(values)]
    assert_equal(fmt, "abs", np.where(np.isnan(values), QUIET_NAN, bits & np.uint64(0x7FFF)))
    assert_equal(fmt, "neg", np.where(np.isnan(values), QUIET_NAN, bits ^ np.uint64(0x8000)))
    assert_equal(fmt, "isnan", np.isnan(values))
    assert_equal(fmt, "isinf", np.where(np.isinf(values), np.sign(values), 0).astype(np.int64))


ORDERED = {"eq": np.equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


def test_comparisons(fmt):
    a, b, c = (fmt.value(fmt.bits(name)) for name in "abc")
    ordered = {name: [compare(*pair) for pair in ((a, b), (b, c))] for name, compare in ORDERED.items()}
    nan = [np.isnan(a) | np.isnan(b), np.isnan(b) | np.isnan(c)]
    ordered["ne"] = [(x != y) & ~n for (x, y), n in zip(((a, b), (b, c)), nan, strict=True)]
    unordered = {f"{name}u": [r | n for r, n in zip(results, nan, strict=True)] for name, results in ordered.items()}
    one = fmt.rounded(np.float64(1))
    for name, (low, high) in (ordered | unordered).items():
        assert_equal(fmt, f"h{name}", low)
        assert_equal(fmt, f"h{name}2", high * one << np.uint64(16) | low * one)
        assert_equal(fmt, f"hb{name}2", low & high)
        assert_equal(fmt, f"h{name}2_mask", high * np.uint64(0xFFFF0000) + low * np.uint64(0xFFFF))
    assert_equal(fmt, "equal", a == b)
    assert_equal(fmt, "unequal", a != b)
    assert_equal(fmt, "less", a < b)


FUNCTIONS = {
    "ceil": np.ceil, "floor": np.floor, "rint": np.rint, "trunc": np.trunc, "sqrt": np.sqrt, "exp": np.exp,
    "exp2": np.exp2, "log": np.log, "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
    "tanh_approx": np.tanh, "rsqrt": lambda x: 1 / np.sqrt(x), "rcp": lambda x: 1 / x,
    "exp10": lambda x: np.power(np.longdouble(10), x),
}  # fmt: skip


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="this machine's long double has no more than 53 bits")
def test_mathematical_functions(fmt):
    for name, function in FUNCTIONS.items():
        value = fmt.inputs("a", f"h{name}").astype(np.longdouble)
        assert_equal(fmt, f"h{name}", fmt.rounded(*split(function(value))))
        assert (fmt.bits(f"h2{name}") & np.uint64(0xFFFF) == fmt.bits(f"h{name}")).all(), name


def test_conversions_between_the_two_formats(formats):
    half, bfloat = formats["__half"], formats["__nv_bfloat16"]
    bits = np.arange(65536, dtype=np.uint64)
    assert_equal(half, "of_bfloat16", half.rounded(bfloat.value(bits)))
    assert_equal(bfloat, "of_half", bfloat.rounded(half.value(bits)))


@pytest.mark.skipif(not (CUDA / "cuda_bf16.h").exists(), reason="NVIDIA's headers are missing")
def test_nvidias_functions_for_the_host_agree(formats, tmp_path):
    program, results = tmp_path / "nvidias", tmp_path / "results"
    results.mkdir()
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-I", CUDA, "-x", "c++"]
    subprocess.run(["g++", *flags, "-o", program, ROOT / "tests/cpu/runtime/float16.cu"], check=True)
    subprocess.run([program, results], check=True)
    ours = formats["__half"].folder
    different = [
        file.name for file in sorted(results.iterdir()) if file.read_bytes() != (ours / file.name).read_bytes()
    ]
    # Of two zeros, these functions return the second one on the host; on a GPU, -0 is smaller than 0.
    of_zeros = [f"__nv_bfloat16.{name}" for name in ("hmax2_nan", "hmax_nan", "hmin2_nan", "hmin_nan")]
    assert different == of_zeros
