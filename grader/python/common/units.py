"""Number formats for people. None becomes a dash, and so does a 0 that means "not measured"."""

from __future__ import annotations

import math
from collections.abc import Sequence

NONE = "\N{EN DASH}"
MAX_NAMED = 3  # names listed in a sentence


def show_number(value: float | None, digits: int = 3) -> str:
    """Format with at least `digits` significant digits and no exponent: 0.00123, 12.3, 45678."""
    if value is None:
        return NONE
    if value == 0:
        return "0"
    before_point = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{min(max(digits - before_point, 0), 12)}f}"


def show_seconds(value: float | None) -> str:
    """Format seconds with at least four significant digits, as the journals print them; 0 means not measured."""
    return f"{show_number(value, 4)}\N{NO-BREAK SPACE}s" if value else NONE


def show_factor(value: float | None) -> str:
    """Format a speedup or a ratio: 14.2x."""
    return f"{show_number(value)}\N{MULTIPLICATION SIGN}" if value else NONE


def show_share(value: float | None) -> str:
    """Format a fraction as a percentage: 95%, 3.2%; 0 means not measured."""
    if not value:
        return NONE
    percent = 100 * value
    return f"{percent:.0f}%" if percent >= 10 else f"{percent:.2g}%"


def show_points(value: float) -> str:
    """Format points with at most two decimals: 10, 7.5, 3.25."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def show_bandwidth(bytes_per_s: float | None) -> str:
    """Format bytes per second in GB/s (10^9)."""
    return f"{show_number(bytes_per_s / 1e9)}\N{NO-BREAK SPACE}GB/s" if bytes_per_s else NONE


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: 1 stage, 2 stages."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def name_some(names: Sequence[str]) -> str:
    """Join names, for example "a.cu, b.cu, c.cu and 4 more"."""
    unnamed = len(names) - MAX_NAMED
    parts = [*names[:MAX_NAMED], f"{unnamed} more"] if unnamed > 0 else list(names)
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
