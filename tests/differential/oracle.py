"""Compute the outputs of a case from its tree, with numpy: no part of the CPU backend is used.

All threads of a grid advance together, statement by statement; a mask selects the threads that take part. CUDA allows
this order, and a generated program computes the same in every order that CUDA allows.
An access out of bounds, a warp function with a wrong mask, a barrier in divergent code or a loop that does not end
raises `IllFormedError`: it is a mistake of the generator.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tests.differential.intrinsics import FUNCTIONS
from tests.differential.races import Races
from tests.differential.syntax import (
    COMPARISONS,
    AggregatedAdd,
    Array,
    Assign,
    Atomic,
    Barrier,
    Branch,
    Case,
    CasLoop,
    CopyRows,
    DeclareArray,
    Expression,
    Fill,
    Function,
    HostChange,
    Kernel,
    Launch,
    Leave,
    Loop,
    Plain,
    Record,
    Store,
    Switch,
    VectorLoad,
    VectorStore,
    Wait,
    WarpBarrier,
    bits,
    common,
    is_float,
    is_signed,
    promoted,
)

DTYPES = {t: np.dtype(f"{ {'i': 'int', 'u': 'uint', 'f': 'float'}[t[0]] }{t[1:]}") for t in (
    "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64")}  # fmt: skip
MAX_ITERATIONS = 10_000
U64 = np.uint64


class IllFormedError(Exception):
    """The program has no defined result."""


def mix(x: np.ndarray) -> np.ndarray:
    """Return mix() of harness.h for each number."""
    x = x + U64(0x9E3779B97F4A7C15)
    x = (x ^ x >> U64(30)) * U64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> U64(27)) * U64(0x94D049BB133111EB)
    return x ^ x >> U64(31)


def numbers(type_: str, size: int, seed: int) -> np.ndarray:
    """Return a buffer's initial contents, like number() in harness.h."""
    mixed = mix(U64(seed) + np.arange(size, dtype=U64))
    if is_float(type_):
        return (((mixed & U64(0xFFFF)).astype(np.int64) - 32768) / 64).astype(DTYPES[type_])
    return mixed.astype(DTYPES[type_])


def digest(buffers: list[np.ndarray]) -> int:
    value, position = U64(0), 0
    for buffer in buffers:
        raw = buffer.view(np.dtype(f"uint{buffer.dtype.itemsize * 8}")).astype(U64)
        value += mix(raw ^ mix(np.arange(position, position + raw.size, dtype=U64))).sum(dtype=U64)
        position += raw.size
    return int(value)


def convert(x: np.ndarray, type_: str) -> np.ndarray:
    """Convert as C++ does; floats out of the integer's range have no defined result and give any value."""
    dtype = DTYPES[type_]
    if x.dtype.kind == "f" and dtype.kind != "f":
        limit = 2.0**62
        wide = np.clip(np.nan_to_num(np.trunc(x.astype(np.float64))), -limit, limit).astype(np.int64)
        return wide.astype(dtype)
    return x.astype(dtype)


def divide(a: np.ndarray, b: np.ndarray, remainder: bool) -> np.ndarray:
    """Divide integers towards zero."""
    if a.dtype.kind == "u":
        b = np.where(b == 0, a.dtype.type(1), b)
        return a % b if remainder else a // b
    unsigned = np.dtype(f"uint{a.dtype.itemsize * 8}")
    x, y = (np.where(v < 0, -v.view(unsigned), v.view(unsigned)) for v in (a, b))
    quotient = x // np.where(y == 0, unsigned.type(1), y)
    quotient = np.where((a < 0) != (b < 0), -quotient, quotient).astype(unsigned)
    return (a.view(unsigned) - quotient * b.view(unsigned) if remainder else quotient).view(a.dtype)


def arithmetic(op: str, type_: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute on two arrays of one type; integers wrap around."""
    if is_float(type_):
        return {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op](a, b)
    if op in "/%":
        return divide(a, b, op == "%")
    dtype, unsigned = DTYPES[type_], DTYPES[f"u{bits(type_)}"]
    x, y = a.view(unsigned), b.view(unsigned)
    function = {
        "+": np.add,
        "-": np.subtract,
        "*": np.multiply,
        "&": np.bitwise_and,
        "|": np.bitwise_or,
        "^": np.bitwise_xor,
    }[op]
    return function(x, y).view(dtype)


def compare(op: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    function = {
        "<": np.less,
        "<=": np.less_equal,
        ">": np.greater,
        ">=": np.greater_equal,
        "==": np.equal,
        "!=": np.not_equal,
    }[op]
    return function(a, b)


@dataclass
class Memory:
    """An array's elements, and for each thread the offset of its own part (0 for arrays of the whole grid)."""

    array: Array
    data: np.ndarray
    offset: np.ndarray | int = 0


@dataclass
class Run:
    """A run of a kernel's grid. Vectors have 32 elements for each warp, even if the warp has fewer threads."""

    kernel: Kernel
    memory: dict[str, Memory]
    found: list[str] | None = None  # collects races and reads of unset memory, if not None
    values: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        k = self.kernel
        self.width = (k.threads + 31) // 32 * 32
        self.size = self.width * k.blocks
        self.lanes = np.arange(self.size)
        thread, block = self.lanes % self.width, self.lanes // self.width
        self.block = block
        self.mask = thread < k.threads
        self.gone = np.zeros(self.size, bool)
        self.result: np.ndarray | None = None
        self.builtins = {"warpSize": np.full(self.size, 32, np.int32)}
        for name, index, dims in (("threadIdx", thread, k.block), ("blockIdx", block, k.grid)):
            parts = (index % dims[0], index // dims[0] % dims[1], index // (dims[0] * dims[1]))
            self.builtins |= {f"{name}.{axis}": part.astype(np.uint32) for axis, part in zip("xyz", parts, strict=True)}
        for name, dims in (("blockDim", k.block), ("gridDim", k.grid)):
            self.builtins |= {f"{name}.{a}": np.full(self.size, d, np.uint32) for a, d in zip("xyz", dims, strict=True)}
        self.rank = thread
        self.races = None if self.found is None else Races(self.size, self.width, self.found)
        for array in k.shared:
            data = np.zeros(array.size * k.blocks, DTYPES[array.type])
            self.memory[array.name] = Memory(array, data, block * array.size)

    # Expressions

    def value(self, e: Expression) -> np.ndarray:
        """Return an expression's value for every thread; only those of threads in the mask are valid."""
        match e.op:
            case "constant":
                return np.full(self.size, e.value, DTYPES[e.type])
            case "variable":
                return self.values[e.name]
            case "builtin":
                return self.builtin(e)
            case "load":
                memory = self.memory[e.array.name]
                place = self.place(memory, e.parts)
                self.record_access(memory, place)
                return memory.data[place]
            case "cast":
                return convert(self.value(e.parts[0]), e.type)
            case "?:":
                condition, then, otherwise = map(self.value, e.parts)
                return np.where(condition != 0, convert(then, e.type), convert(otherwise, e.type))
            case "call":
                return self.call(e)
            case "user":
                return self.call_function(e.function, [self.value(part) for part in e.parts])
            case "warp":
                return self.warp(e)
            case "~" | "!" | "negate":
                return self.unary(e)
        return self.binary(e)

    def builtin(self, e: Expression) -> np.ndarray:
        if e.name in self.builtins:
            return self.builtins[e.name]
        return self.group_member(e.name)

    def group_member(self, name: str) -> np.ndarray:
        """Return the result of a cooperative group's member: `block.thread_rank()`, `tileN.meta_group_rank()` …"""
        group, member = name.split(".")
        size = self.kernel.threads if group == "block" else int(group.removeprefix("tile"))
        number = {
            "thread_rank()": self.rank % size,
            "meta_group_rank()": self.rank // size,
            "meta_group_size()": np.full(self.size, -(-self.kernel.threads // size)),
            "size()": np.full(self.size, size),
            "num_threads()": np.full(self.size, size),
            "group_index().x": self.builtins["blockIdx.x"],
        }[member]
        return number.astype(np.uint32)

    def place(self, memory: Memory, indices: tuple | list) -> np.ndarray:
        """Return the position of an element. Raises IllFormedError if a thread in the mask is out of bounds."""
        flat = np.zeros(self.size, np.int64)
        for dim, index in zip(memory.array.dims, indices, strict=True):
            at = self.value(index).astype(np.int64)
            outside = (at < 0) | (at >= dim)
            if np.any(outside & self.mask):
                raise IllFormedError(f"{memory.array.name}[{at[outside & self.mask][0]}] has {dim} elements")
            flat = flat * dim + np.where(outside, 0, at)
        return flat + memory.offset

    def record_access(self, memory: Memory, place: np.ndarray, writes: bool = False, atomic: bool = False) -> None:
        """Record an access, to find races. `partial` is exempt: a fence and an atomic order the accesses to it."""
        array = memory.array
        if self.races and array.space in ("shared", "dynamic", "output") and array.name != "partial":
            is_new = array.space != "output"
            self.races.access(array.name, memory.data.size, place, self.mask, writes, atomic, is_new)

    def call(self, e: Expression) -> np.ndarray:
        arguments = [self.value(part) for part in e.parts]
        return FUNCTIONS[e.name](*arguments).astype(DTYPES[e.type])

    def call_function(self, function: Function, arguments: list[np.ndarray]) -> np.ndarray:
        saved = self.values, self.gone, self.result, self.mask, self.memory
        parameters = {name: convert(a, t) for (t, name), a in zip(function.parameters, arguments, strict=True)}
        self.values = {**self.values, **parameters} if function.lambda_ else parameters
        self.memory = dict(self.memory)  # the function's arrays may have the names of its caller's
        self.gone, self.result = np.zeros(self.size, bool), np.zeros(self.size, DTYPES[function.type])
        self.run(function.body)
        result = self.result
        if np.any(self.mask & ~self.gone):
            result = np.where(self.gone, result, convert(self.value(function.result), function.type))
        self.values, self.gone, self.result, self.mask, self.memory = saved
        return result

    def unary(self, e: Expression) -> np.ndarray:
        x = self.value(e.parts[0])
        if e.op == "!":
            return (x == 0).astype(np.int32)
        x = convert(x, e.type)
        return ~x if e.op == "~" else -x

    def binary(self, e: Expression) -> np.ndarray:
        a, b = map(self.value, e.parts)
        if e.op == "&&":
            return ((a != 0) & (b != 0)).astype(np.int32)
        if e.op == "||":
            return ((a != 0) | (b != 0)).astype(np.int32)
        if e.op in ("<<", ">>"):
            a = convert(a, promoted(e.parts[0].type))
            shift = np.clip(b.astype(np.int64), 0, bits(e.type) - 1).astype(a.dtype)
            return a << shift if e.op == "<<" else a >> shift
        type_ = common(e.parts[0].type, e.parts[1].type)
        a, b = convert(a, type_), convert(b, type_)
        if e.op in COMPARISONS:
            return compare(e.op, a, b).astype(np.int32)
        return arithmetic(e.op, type_, a, b)

    # Warp functions

    def members(self, mask: np.ndarray) -> np.ndarray:
        """Return for each thread the lanes of its warp that pass the same mask. Raise IllFormedError if a mask names
        other lanes."""
        active, masks = self.mask.reshape(-1, 32), mask.astype(np.uint32).reshape(-1, 32)
        same = (masks[:, :, None] == masks[:, None, :]) & active[:, None, :]
        named = (masks[:, :, None] >> np.arange(32, dtype=np.uint32)[None, None, :] & np.uint32(1)).astype(bool)
        if np.any((same != named).any(axis=2) & active):
            raise IllFormedError("a warp function's mask names other lanes than those that call it")
        return same

    def warp(self, e: Expression) -> np.ndarray:
        """Compute a warp function; `value` has its kind and the width of its segments."""
        kind, width = e.value
        if kind.startswith("block_"):
            return self.block_vote(kind, self.value(e.parts[0]) != 0)
        mask, *arguments = (self.value(part) for part in e.parts)
        if kind.startswith("tile_"):
            kind = kind.removeprefix("tile_")
            mask = self.tile_mask(width)
        members = self.members(mask)
        if kind.startswith("shfl"):
            return self.shuffle(kind, width, members, *arguments)
        if kind in ("ballot", "any", "all", "count"):
            return self.vote(kind, e, members, arguments[0])
        if kind in ("match_any", "match_all"):
            return self.match(kind, e, members, arguments[0])
        return self.reduce(kind, e, members, arguments[0])

    def block_vote(self, kind: str, yes: np.ndarray) -> np.ndarray:
        """Compute __syncthreads_count, _and and _or."""
        self.barrier()
        counts = np.bincount(self.block[self.mask & yes], minlength=self.kernel.blocks)[self.block]
        number = {"block_count": counts, "block_and": counts == self.kernel.threads, "block_or": counts > 0}[kind]
        return number.astype(np.int32)

    def tile_mask(self, width: int) -> np.ndarray:
        lane = self.rank % 32
        return (((1 << width) - 1) << (lane // width * width)).astype(np.uint32)

    def shuffle(self, kind: str, width: int, members: np.ndarray, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        lane, by = np.arange(32)[None, :], by.astype(np.int64).reshape(-1, 32)
        inside = lane % width
        source = {
            "shfl": lane - inside + by % width,
            "shfl_up": np.where(inside >= by, lane - by, lane),
            "shfl_down": np.where(inside + by < width, lane + by, lane),
            "shfl_xor": np.where((lane ^ by) // width > lane // width, lane, lane ^ by),
        }[kind]
        source = np.broadcast_to(source, by.shape) % 32
        is_member = np.take_along_axis(members, source[:, :, None], axis=2)[:, :, 0]
        values = np.take_along_axis(x.reshape(-1, 32), source, axis=1)
        return np.where(is_member, values, x.dtype.type(77)).reshape(-1)

    def vote(self, kind: str, e: Expression, members: np.ndarray, x: np.ndarray) -> np.ndarray:
        yes = (x != 0).reshape(-1, 1, 32) & members
        if kind == "any":
            return yes.any(axis=2).reshape(-1).astype(np.int32)
        if kind == "all":
            return (yes == members).all(axis=2).reshape(-1).astype(np.int32)
        votes = (yes.astype(np.uint32) << np.arange(32, dtype=np.uint32)[None, None, :]).sum(axis=2, dtype=np.uint32)
        return self.as_ranks(e, votes.reshape(-1))

    def as_ranks(self, e: Expression, votes: np.ndarray) -> np.ndarray:
        """Return the votes of a tile with its first lane in bit 0, and other votes unchanged."""
        kind, width = e.value
        if not kind.startswith("tile_"):
            return votes
        return (votes >> (self.rank % 32 // width * width).astype(np.uint32)).astype(np.uint32)

    def match(self, kind: str, e: Expression, members: np.ndarray, x: np.ndarray) -> np.ndarray:
        raw = x.view(np.dtype(f"uint{x.dtype.itemsize * 8}")).reshape(-1, 32)
        same = (raw[:, :, None] == raw[:, None, :]) & members
        weights = np.arange(32, dtype=np.uint32)[None, None, :]
        if kind == "match_all":
            same = members & (same == members).all(axis=2)[:, :, None]
        return self.as_ranks(e, (same.astype(np.uint32) << weights).sum(axis=2, dtype=np.uint32).reshape(-1))

    def reduce(self, kind: str, e: Expression, members: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Combine the values of all members; in a scan, of the members up to the lane (`exclusive`: before it)."""
        name, _, part = kind.partition("_")
        if part:
            lane = np.arange(32)
            is_earlier = lane[None, :] <= lane[:, None] if part == "inclusive" else lane[None, :] < lane[:, None]
            members = members & is_earlier[None, :, :]
        neutral = {
            "add": 0,
            "or": 0,
            "xor": 0,
            "and": -1 if is_signed(e.type) else (1 << bits(e.type)) - 1,
            "min": np.iinfo(x.dtype).max,
            "max": np.iinfo(x.dtype).min,
        }[name]
        values = np.where(members, x.reshape(-1, 1, 32), x.dtype.type(neutral))
        if name == "add":
            return values.sum(axis=2, dtype=x.dtype).reshape(-1)
        function = {
            "min": np.minimum,
            "max": np.maximum,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
            "xor": np.bitwise_xor,
        }[name]
        return function.reduce(values, axis=2).reshape(-1)

    # Statements

    def run(self, statements: list) -> None:
        mask = self.mask
        for statement in statements:
            self.mask = mask & ~self.gone
            if self.mask.any():
                self.execute(statement)
        self.mask = mask

    def execute(self, s) -> None:
        match s:
            case Assign():
                self.assign(s)
            case Store():
                self.store(s)
            case DeclareArray():
                self.declare_array(s)
            case Record():
                for (type_, member), value in zip(s.members, s.values, strict=True):
                    self.values[f"{s.name}.{member}"] = convert(self.value(value), type_)
            case VectorLoad() | VectorStore():
                self.move_vector(s)
            case Atomic():
                self.atomic(s)
            case CasLoop():
                self.cas_loop(s)
            case AggregatedAdd():
                memory = self.memory[s.array.name]
                place = self.place(memory, s.indices)
                self.record_access(memory, place, True, True)
                np.add.at(memory.data, place[self.mask], memory.data.dtype.type(1))
            case Branch() | Loop() | Switch() | Leave():
                self.run_control_flow(s)
            case Barrier():
                self.barrier("this_grid" in s.text)
            case WarpBarrier():
                self.members(self.value(s.mask))
                if self.races:
                    self.races.warp_barrier(self.mask)
            case Plain() | Function():
                pass
            case _:
                raise TypeError(s)

    def barrier(self, of_grid: bool = False) -> None:
        """Pass a barrier. Raise IllFormedError if only some threads of a block are here."""
        counts = np.bincount(self.block[self.mask], minlength=self.kernel.blocks)
        if np.any((counts != 0) & (counts != self.kernel.threads)):
            raise IllFormedError("a barrier in divergent code")
        if self.races:
            self.races.barrier(self.mask, of_grid)

    def assign(self, s: Assign) -> None:
        value = self.value(s.value)
        if s.op:
            old = Expression("variable", s.type, name=s.target)
            value = self.combine(s.op, old, value, s.value.type)
        value = convert(value, s.type)
        if s.declare:
            self.values[s.target] = value.copy()
        else:
            self.values[s.target] = np.where(self.mask, value, self.values[s.target])

    def combine(self, op: str, old: Expression, value: np.ndarray, type_: str) -> np.ndarray:
        """Return `old op value`; the caller has already computed the value."""
        self.values["computed"] = value
        type_of = promoted(old.type) if op in ("<<", ">>") else common(old.type, type_)
        return self.binary(Expression(op, type_of, (old, Expression("variable", type_, name="computed"))))

    def store(self, s: Store) -> None:
        memory = self.memory[s.array.name]
        place, value = self.place(memory, s.indices), self.value(s.value)
        if s.op:
            old = Expression("load", s.array.type, tuple(s.indices), array=s.array)
            value = self.combine(s.op, old, value, s.value.type)
        self.record_access(memory, place, True)
        memory.data[place[self.mask]] = convert(value, s.array.type)[self.mask]

    def declare_array(self, s: DeclareArray) -> None:
        size = s.array.dims[0]
        data = np.zeros(size * self.size, DTYPES[s.array.type])
        for i, value in enumerate(s.values):
            data[i::size] = convert(self.value(value), s.array.type)
        self.memory[s.array.name] = Memory(s.array, data, self.lanes * size)

    def move_vector(self, s: VectorLoad | VectorStore) -> None:
        memory, count = self.memory[s.array.name], len(s.members)
        first = self.value(s.index).astype(np.int64) * count
        if np.any((first + count > memory.array.size) & self.mask):
            raise IllFormedError(f"a vector of {s.array.name} is out of bounds")
        first = np.where(self.mask, first, 0) + memory.offset
        for i, (type_, member) in enumerate(s.members):
            name = f"{s.name}.{member}"
            if isinstance(s, VectorLoad):
                self.values[name] = memory.data[first + i]
            else:
                self.record_access(memory, first + i, True)
                memory.data[(first + i)[self.mask]] = convert(self.values[name], type_)[self.mask]

    def atomic(self, s: Atomic) -> None:
        """Let the threads change their elements one after the other, in the order of their numbers."""
        memory = self.memory[s.array.name]
        place, value = self.place(memory, s.indices), convert(self.value(s.value), s.array.type)
        self.record_access(memory, place, True, True)
        expected = convert(self.value(s.compare), s.array.type) if s.compare else value
        old = np.zeros(self.size, DTYPES[s.array.type])
        for i in np.flatnonzero(self.mask):
            before = old[i] = memory.data[place[i]]
            memory.data[place[i]] = atomic_result(s.op, before, value[i], expected[i])
        if s.result:
            self.values[s.result] = old

    def cas_loop(self, s: CasLoop) -> None:
        memory = self.memory[s.array.name]
        place, value = self.place(memory, s.indices), convert(self.value(s.value), s.array.type)
        self.record_access(memory, place, True, True)
        function = {"*": np.multiply, "max": np.maximum, "^": np.bitwise_xor}[s.op]
        function.at(memory.data, place[self.mask], value[self.mask])

    def run_control_flow(self, s: Branch | Loop | Switch | Leave) -> None:
        if isinstance(s, Leave):
            if s.value:
                self.result = np.where(
                    self.mask, convert(self.value(s.value), DTYPE_NAMES[self.result.dtype]), self.result
                )
            self.leave(s.kind)
        elif isinstance(s, Branch):
            outer, chosen = self.mask, self.value(s.condition) != 0
            for body, mask in ((s.then, outer & chosen), (s.otherwise, outer & ~chosen)):
                self.mask = mask
                self.run(body)
            self.mask = outer
        elif isinstance(s, Switch):
            self.switch(s)
        else:
            self.loop(s)

    def leave(self, kind: str) -> None:
        """Stop the current threads until the loop ends (break), the iteration ends (continue), or the function ends."""
        self.gone = self.gone | self.mask
        if kind == "break":
            self.broken = self.broken | self.mask
        elif kind == "continue":
            self.continued = self.continued | self.mask

    def loop(self, s: Loop) -> None:
        outer = self.mask, getattr(self, "broken", None), getattr(self, "continued", None)
        no_threads = np.zeros(self.size, bool)
        self.broken, self.continued = no_threads, no_threads
        self.values[s.variable] = convert(self.value(s.start), s.type)
        running, first = self.mask, s.kind == "do"
        for _ in range(MAX_ITERATIONS):
            self.mask = running & ~self.gone
            running = self.mask if first else self.mask & (self.value(s.condition) != 0)
            first = False
            if not running.any():
                break
            self.mask = running
            self.run(s.body)
            self.gone = self.gone & ~self.continued
            self.continued = no_threads
            self.mask = running & ~self.gone
            step = Assign(s.variable, s.type, s.step, op="+")
            self.assign(step)
        else:
            raise IllFormedError("a loop does not end")
        self.gone = self.gone & ~self.broken
        self.mask, self.broken, self.continued = outer

    def switch(self, s: Switch) -> None:
        mask, selector = self.mask, self.value(s.selector).astype(np.int64)
        known = np.isin(selector, [value for value, _, _ in s.cases if value is not None])
        inside = np.zeros(self.size, bool)
        for value, body, leaves in s.cases:
            inside = inside | (mask & (~known if value is None else selector == value))
            self.mask = inside
            self.run(body)
            if leaves:
                inside = np.zeros(self.size, bool)
        self.mask = mask


DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def atomic_result(op: str, old, value, expected):
    """Return the new value that an atomic function stores."""
    match op:
        case "Add":
            return old + value
        case "Sub":
            return old - value
        case "Min":
            return min(old, value)
        case "Max":
            return max(old, value)
        case "And":
            return old & value
        case "Or":
            return old | value
        case "Xor":
            return old ^ value
        case "Exch":
            return value
        case "Inc":
            return old + 1 if old < value else 0
        case "Dec":
            return value if old == 0 or old > value else old - 1
        case "CAS":
            return value if old == expected else old
    raise ValueError(op)


def launch(step: Launch, buffers: dict[str, np.ndarray], constants: dict[str, Memory], flaws: list[str] | None) -> None:
    run = Run(step.kernel, dict(constants), flaws)
    for parameter, argument in zip(step.kernel.parameters, step.arguments, strict=True):
        if parameter.array:
            run.memory[parameter.array.name] = Memory(parameter.array, buffers[argument])
        else:
            run.values[parameter.name] = np.full(run.size, argument, DTYPES[parameter.type])
    run.run(step.kernel.body)


def take_step(step, buffers: dict[str, np.ndarray], constants: dict[str, Memory], flaws: list[str] | None) -> None:
    match step:
        case Launch():
            launch(step, buffers, constants, flaws)
        case CopyRows():
            for row in range(step.height):
                source = buffers[step.source][row * step.source_pitch :][: step.width]
                buffers[step.target][row * step.target_pitch :][: step.width] = source
        case Fill():
            buffers[step.buffer].view(np.uint8)[: step.bytes] = step.byte
        case HostChange():
            buffer = buffers[step.buffer]
            buffer += buffer.dtype.type(step.amount)
        case Wait():
            pass


def run_case(case: Case, flaws: list[str] | None = None) -> dict[str, np.ndarray]:
    """Return the final contents of the case's buffers, by name; add races and reads of unset memory to `flaws`."""
    buffers = {b.name: numbers(b.type, b.size, b.seed) for b in case.buffers}
    tables = ((array, np.array(values, DTYPES[array.type])) for array, values, _ in case.constants)
    constants = {array.name: Memory(array, values) for array, values in tables}
    with np.errstate(all="ignore"):
        for step in case.steps:
            take_step(step, buffers, constants, flaws)
    return buffers


def digest_of(case: Case) -> int:
    """Return the digest that the program prints for the case."""
    with np.errstate(all="ignore"):
        return digest(list(run_case(case).values()))


def flaws_of(case: Case) -> list[str]:
    """Return the reasons why a case has no defined result: races, reads of unset memory, or an IllFormedError."""
    flaws: list[str] = []
    try:
        run_case(case, flaws)
    except IllFormedError as flaw:
        flaws.append(str(flaw))
    return list(dict.fromkeys(flaws))
