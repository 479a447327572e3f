"""The part of CUDA that generated programs use, as trees: types, expressions, statements, kernels, and host steps.

`generator.py` makes the trees, `emit.py` writes them as CUDA, `oracle.py` computes their results, and `plants.py`
plants bugs in them. Types have short names: `i32` is `int`, `u8` is `unsigned char`, `f64` is `double`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SPELLING = {
    "i8": "signed char",
    "u8": "unsigned char",
    "i16": "short",
    "u16": "unsigned short",
    "i32": "int",
    "u32": "unsigned",
    "i64": "long long",
    "u64": "unsigned long long",
    "f32": "float",
    "f64": "double",
}
INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
WORDS = ("i32", "u32", "i64", "u64")  # the integers of warp functions and most atomics
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def bits(type_: str) -> int:
    return int(type_[1:])


def is_float(type_: str) -> bool:
    return type_[0] == "f"


def is_signed(type_: str) -> bool:
    return type_[0] == "i"


def promoted(type_: str) -> str:
    return "i32" if not is_float(type_) and bits(type_) < 32 else type_


def common(a: str, b: str) -> str:
    """Return the type of `a + b` in C++."""
    a, b = promoted(a), promoted(b)
    if is_float(a) or is_float(b):
        return max((t for t in (a, b) if is_float(t)), key=bits)
    wide = max(bits(a), bits(b))
    unsigned = any(bits(t) == wide and not is_signed(t) for t in (a, b))
    return f"{'u' if unsigned else 'i'}{wide}"


@dataclass
class Array:
    """`space`: input, output, shared, dynamic, local, constant. Shared arrays may have two dimensions."""

    name: str
    type: str
    dims: tuple[int, ...]
    space: str
    align: int = 0  # output: how many adjacent elements a thread owns; shared: in bytes; 0: as the element's type

    @property
    def size(self) -> int:
        count = 1
        for dim in self.dims:
            count *= dim
        return count


@dataclass
class Expression:
    """`op` combines `parts`; `name` is the variable, function or constant."""

    op: str
    type: str
    parts: tuple = ()
    name: str = ""
    array: Array | None = None
    value: int | float = 0
    function: Function | None = None


@dataclass
class Function:
    """A device function without side effects; `result` is returned unless a statement of `body` returns earlier."""

    name: str
    parameters: list[tuple[str, str]]  # type, name
    type: str
    body: list
    result: Expression
    qualifiers: str = ""
    template: bool = False  # over the first parameter's type
    lambda_: bool = False


@dataclass
class Assign:
    """`declare` also declares the variable; `op` makes it a compound assignment."""

    target: str
    type: str
    value: Expression
    declare: bool = False
    op: str = ""
    spelling: str = ""


@dataclass
class Store:
    array: Array
    indices: list[Expression]
    value: Expression
    op: str = ""


@dataclass
class DeclareArray:
    array: Array
    values: list[Expression]


@dataclass
class Record:
    """Declares a variable of a struct or vector type. Expressions refer to its member `m` as the variable `name.m`."""

    name: str
    type: str
    members: list[tuple[str, str]]  # type, member
    values: list[Expression]


@dataclass
class VectorLoad:
    name: str
    vector: str
    members: list[tuple[str, str]]
    array: Array
    index: Expression  # in vectors


@dataclass
class VectorStore:
    name: str
    vector: str
    members: list[tuple[str, str]]
    array: Array
    index: Expression


@dataclass
class Atomic:
    """`op`: Add, Sub, Min, Max, And, Or, Xor, Exch, Inc, Dec, CAS. The old value goes to the new variable `result`."""

    op: str
    array: Array
    indices: list[Expression]
    value: Expression
    result: str = ""
    compare: Expression | None = None


@dataclass
class CasLoop:
    """Changes an element by `new = old op value`, retried with atomicCAS until no other thread interferes.

    `guarded_read`: read the first old value without an atomic; atomicCAS then fails if the value is stale."""

    op: str
    array: Array
    indices: list[Expression]
    value: Expression
    name: str
    guarded_read: bool


@dataclass
class AggregatedAdd:
    """One of the lanes that run together adds their number to an element."""

    array: Array
    indices: list[Expression]
    name: str


@dataclass
class Branch:
    condition: Expression
    then: list
    otherwise: list = field(default_factory=list)


@dataclass
class Loop:
    """`kind`: for, while, do. The variable is declared, starts at `start` and grows by `step`."""

    kind: str
    variable: str
    type: str
    start: Expression
    condition: Expression
    step: Expression
    body: list
    pragma: str = ""


@dataclass
class Switch:
    selector: Expression
    cases: list[tuple[int | None, list, bool]]  # value (None: default), body, whether a break follows


@dataclass
class Leave:
    """break, continue or return; a function returns a value."""

    kind: str
    value: Expression | None = None


@dataclass
class Barrier:
    """`orders`: the shared array that makes the barrier necessary, if there is one."""

    text: str = "__syncthreads();"
    orders: str = ""


@dataclass
class WarpBarrier:
    mask: Expression
    text: str = ""
    orders: str = ""


@dataclass
class Plain:
    """Text that does not change results, such as a fence."""

    text: str


@dataclass
class Parameter:
    """`array`: a pointer to its elements; otherwise a scalar of `type`."""

    name: str
    type: str
    array: Array | None = None
    written: bool = False
    restrict: bool = False


@dataclass
class Kernel:
    name: str
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    parameters: list[Parameter]
    shared: list[Array]
    functions: list[Function]
    body: list
    dynamic_bytes: int = 0
    prefix: str = ""  # __launch_bounds__(…)
    template: list[tuple[str, str, str]] = field(default_factory=list)  # kind (typename or int), name, argument
    groups: bool = False
    cooperative: bool = False

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]


@dataclass
class Buffer:
    """Memory that kernels can access, filled with numbers derived from `seed`. `kind`: device, managed, pinned."""

    name: str
    type: str
    size: int
    seed: int
    kind: str = "device"


@dataclass
class Launch:
    kernel: Kernel
    arguments: list[str | int | float]  # a buffer's name or a number
    stream: int = 0  # 0: the default stream


@dataclass
class CopyRows:
    """cudaMemcpy2D between two buffers of one type; all numbers are elements."""

    target: str
    source: str
    target_pitch: int
    source_pitch: int
    width: int
    height: int
    stream: int | None = None


@dataclass
class Fill:
    buffer: str
    byte: int
    bytes: int
    stream: int | None = None


@dataclass
class Wait:
    """Orders later steps after earlier ones. `kind`: device or stream (the host waits), or event (`other` waits for
    `stream`)."""

    kind: str
    stream: int = 0
    other: int = 0


@dataclass
class HostChange:
    """Host code adds to each element of a managed or pinned buffer."""

    buffer: str
    amount: int


@dataclass
class Case:
    """One test: the steps of a host function of the generated file, and the buffers whose digest is compared."""

    seed: int
    buffers: list[Buffer]
    constants: list[tuple[Array, list[int], bool]]  # a __constant__ table, its values, whether the host copies them
    kernels: list[Kernel]
    steps: list
    plant: str = ""
