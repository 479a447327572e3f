"""Make a case from a seed: a random program whose results do not depend on the order of its threads.

This holds by construction. A thread writes only its own elements; several threads change an element only by atomics of
one kind, whose order does not matter. `Builder.modes` says how each shared array has been used since the last barrier;
a different use needs a barrier first. Warp functions get masks that name exactly the lanes that call. Standard library
only: a machine with a GPU needs nothing else to write the programs.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.differential.signatures import SIGNATURES
from tests.differential.syntax import (
    COMPARISONS,
    INTEGERS,
    SPELLING,
    WORDS,
    AggregatedAdd,
    Array,
    Assign,
    Atomic,
    Barrier,
    Branch,
    Buffer,
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
    Parameter,
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

FULL = 0xFFFFFFFF
MAX_SHARED_BYTES = 16 * 1024
SHAPES = [(32, 1, 1), (64, 1, 1), (96, 1, 1), (128, 1, 1), (256, 1, 1), (33, 1, 1), (50, 1, 1), (20, 1, 1)]
SHAPES += [
    (8, 8, 1),
    (16, 4, 1),
    (16, 16, 1),
    (7, 5, 1),
    (32, 2, 1),
    (4, 4, 4),
    (8, 2, 3),
    (3, 5, 7),
    (1, 1, 1),
    (2, 33, 1),
]
GRIDS = [(1, 1, 1), (2, 1, 1), (3, 1, 1), (5, 1, 1), (2, 2, 1), (3, 2, 1), (2, 1, 2), (1, 3, 1)]
VECTORS = {
    "int4": ("i32", "xyzw"),
    "int2": ("i32", "xy"),
    "uint2": ("u32", "xy"),
    "uint4": ("u32", "xyzw"),
    "uchar4": ("u8", "xyzw"),
    "ushort2": ("u16", "xy"),
    "short4": ("i16", "xyzw"),
    "longlong2": ("i64", "xy"),
    "ulonglong2": ("u64", "xy"),
}
STRUCTS = {"Pair": [("i32", "a"), ("u8", "b")], "Triple": [("i64", "a"), ("i16", "b"), ("f32", "c")]}


def number(value: int | float, type_: str = "i32", name: str = "") -> Expression:
    return Expression("constant", type_, value=value, name=name)


def variable(name: str, type_: str) -> Expression:
    return Expression("variable", type_, name=name)


def builtin(name: str, type_: str = "u32") -> Expression:
    return Expression("builtin", type_, name=name)


def cast(e: Expression, type_: str) -> Expression:
    is_bool = e.op in COMPARISONS or e.op in ("&&", "||", "!")
    return e if e.type == type_ and not is_bool else Expression("cast", type_, (e,))


def binary(op: str, a: Expression, b: Expression) -> Expression:
    if op in COMPARISONS or op in ("&&", "||"):
        return Expression(op, "i32", (a, b))
    return Expression(op, promoted(a.type) if op in ("<<", ">>") else common(a.type, b.type), (a, b))


def call(name: str, *arguments: Expression, type_: str = "") -> Expression:
    """Return a call of a CUDA function; the arguments are cast to the types of its parameters."""
    signature = SIGNATURES.get(name) or (type_,) * (len(arguments) + 1)
    parts = tuple(cast(a, t) for a, t in zip(arguments, signature[1:], strict=True))
    return Expression("call", signature[0], parts, name=name)


def choose(e: Expression, then: Expression, otherwise: Expression) -> Expression:
    return Expression("?:", common(then.type, otherwise.type), (e, then, otherwise))


def load(array: Array, *indices: Expression, name: str = "") -> Expression:
    return Expression("load", array.type, indices, array=array, name=name)


class Expressions:
    """Random expressions over variables, constants, arrays that may be read, and device functions."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.variables: list[tuple[str, str]] = []
        self.functions: list[Function] = []
        self.loads: list[Callable[[], Expression]] = []
        self.names = 0

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def weighted_choice(self, *weighted: tuple[float, object]) -> object:
        weights, values = zip(*weighted, strict=True)
        return self.rng.choices(values, weights)[0]

    def literal(self, type_: str) -> Expression:
        low, high = (
            (-(1 << bits(type_) - 1), (1 << bits(type_) - 1) - 1) if is_signed(type_) else (0, (1 << bits(type_)) - 1)
        )
        special = [low, high, 0, 1, 2, high // 3, 255 & high]
        small = self.rng.randrange(0 if low == 0 else -20, 100)
        return number(
            self.weighted_choice((3, small), (1, self.rng.choice(special)), (1, self.rng.randrange(low, high + 1))),
            type_,
        )

    def leaf(self) -> Expression:
        integers = [v for v in self.variables if not is_float(v[1])]
        kind = self.weighted_choice(
            (6 if integers else 0, "variable"), (3, "literal"), (3 if self.loads else 0, "load")
        )
        if kind == "variable":
            return variable(*self.rng.choice(integers))
        if kind == "load":
            loaded = self.rng.choice(self.loads)()
            return loaded if not is_float(loaded.type) else self.from_float(loaded)
        return self.literal(self.rng.choice(INTEGERS))

    def integer(self, depth: int) -> Expression:
        """Return an expression of any integer type."""
        if depth <= 0:
            return self.leaf()
        make = self.weighted_choice(
            (30, self.arithmetic),
            (15, self.bitwise),
            (10, self.shift),
            (7, self.division),
            (5, self.comparison),
            (4, self.logic),
            (6, self.conditional),
            (7, self.conversion),
            (5, self.unary),
            (14, self.intrinsic),
            (5, self.rounded),
            (6 if self.functions else 0, self.user_function),
        )
        return make(depth - 1)

    def arithmetic(self, depth: int) -> Expression:
        return binary(self.rng.choice("+-*"), self.integer(depth), self.integer(depth))

    def bitwise(self, depth: int) -> Expression:
        return binary(self.rng.choice("&|^"), self.integer(depth), self.integer(depth))

    def shift(self, depth: int) -> Expression:
        left = self.integer(depth)
        width = bits(promoted(left.type))
        by = number(self.rng.randrange(width)) if self.rng.random() < 0.5 else self.below(width, depth)
        return binary(self.rng.choice(["<<", ">>"]), left, by)

    def below(self, limit: int, depth: int) -> Expression:
        """Return an unsigned expression below the limit."""
        e = cast(self.integer(depth), "u32")
        if limit & (limit - 1) == 0 and self.rng.random() < 0.7:
            return binary("&", e, number(limit - 1, "u32"))
        return binary("%", e, number(limit, "u32"))

    def division(self, depth: int) -> Expression:
        """Divide by a number that is never 0, and never -1 if that could overflow."""
        left, op = self.integer(depth), self.rng.choice("/%")
        if self.rng.random() < 0.3:
            return binary(op, left, number(self.rng.choice([2, 3, 7, 16, 1000, -3, -8, -100])))
        if not is_signed(promoted(left.type)):
            return binary(
                op, left, binary("|", cast(self.integer(depth), promoted(left.type)), number(1, promoted(left.type)))
            )
        return binary(op, left, binary("+", cast(self.below(1000, depth), "i32"), number(1)))

    def comparison(self, depth: int) -> Expression:
        return binary(self.rng.choice(COMPARISONS), self.integer(depth), self.integer(depth))

    def condition(self, depth: int = 1) -> Expression:
        """Return a condition that is often true for some threads and false for others."""
        if self.rng.random() < 0.5:
            return self.comparison(depth)
        bit = binary("&", self.integer(depth), number(self.rng.choice([1, 2, 3, 4, 7])))
        return binary(self.rng.choice(["!=", "=="]), bit, number(0))

    def logic(self, depth: int) -> Expression:
        if self.rng.random() < 0.3:
            return Expression("!", "i32", (self.integer(depth),))
        return binary(self.rng.choice(["&&", "||"]), self.comparison(depth), self.comparison(depth))

    def conditional(self, depth: int) -> Expression:
        return choose(self.condition(depth), self.integer(depth), self.integer(depth))

    def conversion(self, depth: int) -> Expression:
        return Expression("cast", self.rng.choice(INTEGERS), (self.integer(depth),)) if depth else self.literal("i16")

    def unary(self, depth: int) -> Expression:
        inner = self.integer(depth)
        return Expression(self.rng.choice(["~", "negate"]), promoted(inner.type), (cast(inner, inner.type),))

    def intrinsic(self, depth: int) -> Expression:
        name = self.rng.choice(
            [n for n in SIGNATURES if n.startswith("__") and not self.uses_floats(n)] + ["min", "max", "abs"]
        )
        if name in ("min", "max"):
            type_ = self.rng.choice(WORDS)
            return call(name, self.integer(depth), self.integer(depth), type_=type_)
        if name == "abs":
            return call(name, binary(">>", cast(self.integer(depth), "i32"), number(1)), type_="i32")
        return call(name, *(self.integer(depth) for _ in SIGNATURES[name][1:]))

    def uses_floats(self, name: str) -> bool:
        return any(is_float(t) for t in SIGNATURES[name])

    def user_function(self, depth: int) -> Expression:
        function = self.rng.choice(self.functions)
        arguments = tuple(cast(self.integer(min(depth, 1)), type_) for type_, _ in function.parameters)
        return Expression("user", function.type, arguments, function=function)

    # Floats: every operation is exact or correctly rounded, so that all machines give the same result.

    def rounded(self, depth: int) -> Expression:
        """Return an integer that is computed from a float."""
        return self.from_float(self.floating(self.rng.choice(["f32", "f32", "f64"]), depth))

    def from_float(self, e: Expression) -> Expression:
        clean = call("plain", e, type_=e.type)
        if e.type == "f64":
            name = self.rng.choice(["__double_as_longlong", "__double2int_rn", "__double2ll_rz"])
            return call(name, clean)
        kinds = ["__float_as_int", "__float_as_uint", "__float2int_rn", "__float2int_rz", "__float2int_ru", "cast"]
        kind = self.rng.choice([*kinds, "__float2int_rd", "__float2uint_rz"])
        if kind != "cast":
            return call(kind, clean)
        inside = call("fminf", call("fmaxf", clean, number(-30000.0, "f32")), number(30000.0, "f32"))
        return Expression("cast", self.rng.choice(["i16", "i32", "i64"]), (inside,))

    def floating(self, type_: str, depth: int) -> Expression:
        if depth <= 0:
            return self.float_leaf(type_)
        kind = self.weighted_choice(
            (8, "binary"), (3, "fused"), (2, "root"), (2, "round"), (2, "min_max"), (2, "of_integer"), (1, "?:")
        )
        x = self.floating(type_, depth - 1)
        if kind == "binary":
            return self.float_binary(type_, x, self.floating(type_, depth - 1))
        if kind == "fused" and type_ == "f32":
            return call("fmaf", x, self.float_leaf(type_), self.float_leaf(type_))
        if kind == "root":
            return call("sqrtf", call("fabsf", x)) if type_ == "f32" else call("sqrt", binary("*", x, x))
        if kind == "round" and type_ == "f32":
            return call(self.rng.choice(["floorf", "ceilf", "truncf", "rintf"]), x)
        if kind == "min_max" and type_ == "f32":
            arguments = (call("plain", y, type_="f32") for y in (x, self.float_leaf(type_)))
            return call(self.rng.choice(["fminf", "fmaxf"]), *arguments)
        if kind == "?:":
            return choose(self.condition(1), x, self.float_leaf(type_))
        return self.of_integer(type_, depth - 1)

    def float_binary(self, type_: str, x: Expression, y: Expression) -> Expression:
        if type_ == "f64" or self.rng.random() < 0.8:
            if type_ == "f64" and self.rng.random() < 0.1:
                return call("__dadd_rn", x, y)
            return Expression(self.rng.choice("+-*/"), type_, (x, y))
        return call(self.rng.choice(["__fadd_rn", "__fmul_rn", "__fmul_rz", "__fdiv_rn"]), x, y)

    def float_leaf(self, type_: str) -> Expression:
        known = [v for v in self.variables if v[1] == type_]
        if known and self.rng.random() < 0.6:
            return variable(*self.rng.choice(known))
        if self.rng.random() < 0.5:
            return number(self.rng.randrange(-400, 400) / 8, type_)
        return self.of_integer(type_, 0)

    def of_integer(self, type_: str, depth: int) -> Expression:
        e = self.integer(depth)
        if type_ == "f64":
            return (
                call("__ll2double_rn", e) if self.rng.random() < 0.3 else Expression("cast", "f64", (cast(e, "i32"),))
            )
        names = ["__int2float_rn", "__int2float_rz", "__uint2float_rn", "__ll2float_rn"]
        if self.rng.random() < 0.4:
            return call(self.rng.choice(names), e)
        return Expression("cast", "f32", (binary("&", cast(e, "i32"), number(1023)),))

    def of_type(self, type_: str, depth: int) -> Expression:
        """Return an expression to assign to a variable of the type."""
        if is_float(type_):
            return call("plain", self.floating(type_, depth), type_=type_)
        return self.integer(depth)


class Builder(Expressions):
    """Make one kernel. `level` says which threads run the code being generated: all threads of a block together
    (`block`), all lanes of a warp (`warp`), the lanes of `self.mask` (`lanes`), or any threads (`thread`)."""

    def __init__(self, rng: random.Random, name: str, inputs: list[Array], tables: list[Array]):
        super().__init__(rng)
        self.block, self.grid = rng.choice(SHAPES), rng.choice(GRIDS)
        self.kernel = Kernel(name, self.block, self.grid, [], [], [], [])
        self.level, self.mask = "block", number(FULL, "u32")
        self.modes: dict[str, str] = {}
        self.shared: list[Array] = []
        self.own: list[tuple[Array, Callable[[], Expression]]] = []
        self.totals: dict[str, tuple[Array, str]] = {}
        self.constant_names: set[str] = set()
        self.body: list = self.kernel.body
        self.depth = 0
        self.tiles: list[int] = []
        self.sink = ""
        self.inputs = inputs
        for array in inputs + tables:
            self.loads.append(lambda array=array: load(array, self.index(array.size), name=self.cache_hint(array)))

    @property
    def threads(self) -> int:
        return self.kernel.threads

    @property
    def total(self) -> int:
        return self.kernel.threads * self.kernel.blocks

    def cache_hint(self, array: Array) -> str:
        return "__ldg" if array.space == "input" and self.rng.random() < 0.15 else ""

    def index(self, size: int) -> Expression:
        """Return an index below the size."""
        simple = [v for v in self.variables if v[1] == "u32"]
        if simple and self.rng.random() < 0.6:
            at = variable(*self.rng.choice(simple))
            if self.rng.random() < 0.5:
                at = binary("+", at, number(self.rng.randrange(40), "u32"))
            return binary("%", at, number(size, "u32"))
        return self.below(size, 1)

    def emit(self, statement: object) -> None:
        self.body.append(statement)

    def inside(self, make: Callable[[], None], level: str = "", mask: Expression | None = None) -> list:
        """Return the statements that `make` emits, in a separate scope."""
        saved = self.body, self.level, self.mask, len(self.variables)
        shared = list(self.shared)
        self.body, self.level, self.mask = [], level or self.level, mask or self.mask
        self.depth += 1
        make()
        for name, type_ in self.variables[saved[3] :]:
            self.observe(name, type_)
        self.depth -= 1
        statements = self.body
        self.body, self.level, self.mask = saved[:3]
        del self.variables[saved[3] :]
        self.shared = shared  # an array that is set in this scope may be unset elsewhere
        return statements

    def observe(self, name: str, type_: str) -> None:
        """Let a variable change the output; otherwise, the compiler would remove its computation."""
        if not self.sink:
            return
        value = variable(name, type_)
        integer = self.from_float(value) if is_float(type_) else value
        mixed = binary("^", binary("*", variable(self.sink, "u32"), number(0x9E3779B1, "u32")), cast(integer, "u32"))
        self.emit(Assign(self.sink, "u32", mixed))

    def declare(self, type_: str, value: Expression, prefix: str = "v", spelling: str = "") -> Expression:
        name = self.fresh(prefix)
        self.emit(Assign(name, type_, value, declare=True, spelling=spelling))
        self.variables.append((name, type_))
        if spelling.startswith("const"):
            self.constant_names.add(name)
        return variable(name, type_)

    # Shared arrays and how they are used between barriers

    def can_use(self, array: Array, mode: str) -> bool:
        return self.modes.get(array.name) in (None, mode)

    def use(self, array: Array, mode: str) -> None:
        """Use the array in this way, after a barrier if the uses since the last one require it."""
        if not self.can_use(array, mode):
            self.barrier(array.name)
        self.modes[array.name] = mode

    def barrier(self, orders: str = "") -> None:
        assert self.level == "block"
        texts = ["__syncthreads();"] * 4 + (["block.sync();", "cg::sync(block);"] if self.kernel.groups else [])
        self.emit(Barrier(self.rng.choice(texts), orders))
        self.modes.clear()

    def add_shared(self) -> Array | None:
        """Declare a shared array and set all its elements."""
        type_ = self.rng.choice(["i32", "i32", "u32", "u32", "u8", "i16", "i64", "u64", "f32"])
        dims: tuple[int, ...] = (self.threads * self.rng.choice([1, 1, 1, 2]) + self.rng.choice([0, 0, 1, 3]),)
        if self.block[1] > 1 and self.block[2] == 1 and self.rng.random() < 0.5:
            dims = (self.block[1], self.block[0] + self.rng.choice([0, 1]))
        space = "dynamic" if len(dims) == 1 and self.rng.random() < 0.3 else "shared"
        name = self.fresh(f"{self.kernel.name}_s" if space == "dynamic" else "s")
        array = Array(name, type_, dims, space)
        used = sum(a.size * bits(a.type) // 8 for a in self.shared)
        if used + array.size * 8 > MAX_SHARED_BYTES:
            return None
        self.shared.append(array)
        self.kernel.shared.append(array)
        if len(dims) == 1 and dims[0] == self.threads and self.rng.random() < 0.6:
            self.emit(Store(array, [variable("t", "u32")], self.of_type(type_, 1)))
            self.modes[array.name] = "own:0"
        else:
            self.fill(array)
        return array

    def fill(self, array: Array) -> None:
        """Let the threads set all elements in turns."""
        i = self.fresh("i")
        self.variables.append((i, "u32"))
        at = variable(i, "u32")
        columns = number(array.dims[-1], "u32")
        indices = [at] if len(array.dims) == 1 else [binary("/", at, columns), binary("%", at, columns)]
        body = [Store(array, indices, self.of_type(array.type, 1))]
        self.variables.pop()
        condition = binary("<", at, number(array.size, "u32"))
        step = builtin("blockDim.x") if self.block[1:] == (1, 1) else number(self.threads, "u32")
        self.emit(Loop("for", i, "u32", variable("t", "u32"), condition, step, body))
        self.modes[array.name] = "fill"

    def some_shared(self, suits: Callable[[Array], bool] = lambda array: True) -> Array | None:
        known = [array for array in self.shared if suits(array)]
        if known and (self.level != "block" or self.rng.random() < 0.7):
            return self.rng.choice(known)
        if self.level != "block":
            return None
        array = self.add_shared()
        return array if array and suits(array) else None

    def own_place(self, array: Array) -> tuple[str, list[Expression]]:
        """Return a way to divide the array among threads, and the indices of this thread's element."""
        t = variable("t", "u32")
        if len(array.dims) == 2:
            return "own:2d", [builtin("threadIdx.y"), builtin("threadIdx.x")]
        n = self.threads
        ways = [("own:0", t), ("own:1", binary("-", number(n - 1, "u32"), t))]
        if n & (n - 1) == 0:
            bit = self.rng.choice([b for b in (1, 2, 5, 16, 31) if b < n] or [0])
            ways.append((f"own:x{bit}", binary("^", t, number(bit, "u32"))))
        if array.size >= 2 * n:
            twice = binary("*", t, number(2, "u32"))
            ways.append(("own:2", binary("+", twice, number(self.rng.randrange(2), "u32"))))
        mode = self.modes.get(array.name)
        matching = [way for way in ways if way[0] == mode]
        if (matching and self.rng.random() < 0.6) or (matching and self.level != "block"):
            ways = matching
        mode, at = self.rng.choice(ways)
        return mode, [at]

    def any_place(self, array: Array) -> list[Expression]:
        if len(array.dims) == 2:
            return [self.index(array.dims[0]), self.index(array.dims[1])]
        neighbour = binary("+", variable("t", "u32"), number(self.rng.randrange(1, 40), "u32"))
        if self.rng.random() < 0.5:
            return [binary("%", neighbour, number(array.size, "u32"))]
        return [self.index(array.size)]

    # Pieces that any thread may run

    def mutable(self) -> list[tuple[str, str]]:
        return [v for v in self.variables if v[0] not in self.constant_names and v[0] not in ("t", "b", "g")]

    def assign(self) -> None:
        targets = self.mutable()
        if not targets or self.rng.random() < 0.25:
            type_ = self.rng.choice(["i8", "u8", "i16", "u16", *WORDS, *WORDS, "f32", "f64"])
            self.declare(type_, self.of_type(type_, 2))
            return
        name, type_ = self.rng.choice(targets)
        if is_float(type_) or self.rng.random() < 0.6:
            self.emit(Assign(name, type_, self.of_type(type_, 3)))
            return
        self.emit(self.compound(name, type_))

    def compound(self, name: str, type_: str) -> Assign:
        """Return a compound assignment that cannot overflow a signed integer."""
        kind = self.weighted_choice((3, "bits"), (1, ">>"), (3, "sum"), (1, "divide"))
        if kind == ">>":
            return Assign(name, type_, number(self.rng.randrange(bits(promoted(type_)))), op=">>")
        if kind == "divide":
            return Assign(name, type_, number(self.rng.choice([2, 3, 9, 128])), op=self.rng.choice("/%"))
        if kind == "sum" and (not is_signed(type_) or bits(type_) < 32):
            op = self.rng.choice("+-" if type_ == "u16" else "+-*")
            return Assign(name, type_, cast(self.integer(2), type_), op=op)
        return Assign(name, type_, self.integer(2), op=self.rng.choice("&|^"))

    def store_own(self) -> None:
        array, at = self.rng.choice(self.own)
        place = at()
        fitting = [
            name
            for name, (element, members) in VECTORS.items()
            if element == array.type and len(members) == array.align
        ]
        if fitting and self.rng.random() < 0.6:
            self.store_vector(array, self.rng.choice(fitting))
            return
        op = "+" if array.type == "u32" and self.rng.random() < 0.3 else ""
        value = cast(self.integer(2), "u32") if op else self.of_type(array.type, 2)
        self.emit(Store(array, [place], value, op))

    def store_vector(self, array: Array, vector: str) -> None:
        """Store all of the thread's elements at once."""
        type_, letters = VECTORS[vector]
        members, name = [(type_, letter) for letter in letters], self.fresh("r")
        self.emit(Record(name, vector, members, [cast(self.integer(1), type_) for _ in letters]))
        self.emit(VectorStore(name, vector, members, array, variable("g", "u32")))

    def load_own(self) -> None:
        array, at = self.rng.choice(self.own)
        self.declare(
            array.type,
            load(array, at()) if not is_float(array.type) else call("plain", load(array, at()), type_=array.type),
        )

    def branch(self) -> None:
        condition = self.condition(2)
        then = self.inside(lambda: self.pieces("thread", self.rng.randrange(1, 4)), "thread")
        otherwise = []
        if self.rng.random() < 0.5:
            otherwise = self.inside(lambda: self.pieces("thread", self.rng.randrange(1, 3)), "thread")
        self.emit(Branch(condition, then, otherwise))

    def loop(self) -> None:
        """Emit a loop whose number of iterations differs among threads."""
        kind = self.weighted_choice((4, "for"), (1, "while"), (1, "do"))
        name = self.fresh("i")
        type_ = self.rng.choice(["i32", "u32"])
        limit = binary("&", self.integer(1), number(self.rng.choice([1, 3, 7]), "i32"))
        bound = (
            self.declare("i32", cast(limit, "i32"), "n", "const int") if self.rng.random() < 0.5 else cast(limit, "i32")
        )
        i = variable(name, type_)
        condition = binary("<", i, cast(bound, "i32" if type_ == "i32" else "u32"))
        if kind == "while" and self.rng.random() < 0.5:
            condition = binary("&&", condition, self.comparison(1))

        def make() -> None:
            self.variables.append((name, type_))
            self.constant_names.add(name)
            self.pieces("thread", self.rng.randrange(1, 3))
            if self.rng.random() < 0.35:
                self.emit(Branch(self.condition(), [Leave("break")]))
                self.pieces("thread", 1)
            elif kind == "for" and self.rng.random() < 0.3:
                self.emit(Branch(self.condition(), [Leave("continue")]))
                self.pieces("thread", 1)

        start, step = number(self.rng.randrange(2), type_), number(self.rng.randrange(1, 3), type_)
        pragma = self.rng.choice(["", "", "#pragma unroll 1", "#pragma unroll"]) if kind == "for" else ""
        self.emit(Loop(kind, name, type_, start, condition, step, self.inside(make, "thread"), pragma))

    def switch(self) -> None:
        selector = self.below(self.rng.choice([3, 4, 5]), 1)
        cases: list[tuple[int | None, list, bool]] = []
        for value in [*range(self.rng.randrange(1, 4)), None]:
            body = self.inside(lambda: self.pieces("thread", 1), "thread")
            cases.append((value, body, value is None or self.rng.random() < 0.75))
        self.emit(Switch(selector, cases))

    def local_array(self) -> None:
        type_ = self.rng.choice(["i32", "u32", "u8", "i16", "u64"])
        size = self.rng.choice([2, 4, 4, 8])
        array = Array(self.fresh("a"), type_, (size,), "local")
        self.emit(DeclareArray(array, [cast(self.leaf(), type_) for _ in range(size)]))
        for _ in range(self.rng.randrange(1, 3)):
            self.emit(Store(array, [self.below(size, 1)], self.integer(2)))
        self.declare(type_, load(array, self.below(size, 1)))

    def record(self) -> None:
        type_ = self.rng.choice(list(STRUCTS))
        self.declare_record(type_, STRUCTS[type_])

    def vector(self) -> None:
        type_ = self.rng.choice(list(VECTORS))
        element, members = VECTORS[type_]
        self.declare_record(type_, [(element, member) for member in members])

    def declare_record(self, type_: str, members: list[tuple[str, str]]) -> None:
        name = self.fresh("r")
        self.emit(Record(name, type_, members, [cast(self.of_type(t, 1), t) for t, _ in members]))
        self.variables += [(f"{name}.{member}", t) for t, member in members]
        t, member = self.rng.choice(members)
        self.emit(Assign(f"{name}.{member}", t, self.of_type(t, 2)))

    def load_vector(self) -> None:
        suited = [
            (array, vector)
            for array in self.inputs
            for vector, (element, members) in VECTORS.items()
            if element == array.type and array.size >= len(members)
        ]
        if not suited:
            return
        array, vector = self.rng.choice(suited)
        element, letters = VECTORS[vector]
        members, name = [(element, letter) for letter in letters], self.fresh("r")
        self.emit(VectorLoad(name, vector, members, array, self.index(array.size // len(members))))
        self.variables += [(f"{name}.{member}", t) for t, member in members]

    def total_atomic(self) -> None:
        """Use an atomic to change memory that all blocks share, and ignore the old value."""
        name = self.rng.choice(list(self.totals))
        array, op = self.totals[name]
        if is_float(array.type) and self.depth > 1:
            return  # the sum of many iterations might be rounded
        place = [self.index(array.size) if op != "groups" else number(self.rng.randrange(array.size))]
        if op == "CAS":
            way = "max" if array.type in ("i32", "u32") and array.size % 2 else "^"
            self.emit(CasLoop(way, array, place, self.word(array.type), self.fresh("c"), self.rng.random() < 0.5))
        elif op == "groups":
            self.emit(AggregatedAdd(array, place, self.fresh("together")))
        else:
            value = number(array.size * 7 + 3, "u32") if op in ("Inc", "Dec") else self.word(array.type)
            self.emit(Atomic(op, array, place, value))

    def word(self, type_: str) -> Expression:
        """Return a value for an atomic. Floats are small whole numbers, so that sums are exact."""
        if is_float(type_):
            return cast(binary("&", cast(self.integer(1), "i32"), number(1)), type_)
        return cast(self.integer(2), type_)

    def own_atomic(self) -> None:
        """Change the thread's own element by an atomic: the old value is known."""
        suited = [(array, at) for array, at in self.own if array.type in ("i32", "u32", "u64")]
        if not suited:
            return
        array, at = self.rng.choice(suited)
        op, old = self.rng.choice(["Add", "Exch", "CAS", "Max", "Min", "And", "Or", "Xor"]), self.fresh("old")
        value = cast(self.integer(1), array.type)
        compare = cast(self.integer(1), array.type) if op == "CAS" else None
        self.emit(Atomic(op, array, [at()], value, old, compare))
        self.variables.append((old, array.type))
        self.constant_names.add(old)

    def shared_access(self) -> None:
        """Read or write a shared array in a way that is safe at this level."""
        array = self.some_shared()
        if not array:
            return
        if self.rng.random() < 0.5:
            if self.level == "block" or self.can_use(array, "read"):
                self.use(array, "read")
                self.read(load(array, *self.any_place(array)))
            return
        mode, place = self.own_place(array)
        if self.level != "block" and not self.can_use(array, mode):
            return
        value = self.of_type(array.type, 2)
        self.use(array, mode)
        self.emit(Store(array, place, value))
        if self.rng.random() < 0.4:
            self.read(load(array, *place))

    def read(self, e: Expression) -> None:
        self.declare(e.type, call("plain", e, type_=e.type) if is_float(e.type) else e)

    def shared_atomic(self) -> None:
        array = self.some_shared(lambda a: a.type in ("i32", "u32", "u64"))
        op = self.rng.choice(["Add", "Min", "Max", "And", "Or", "Xor", "CAS", "Sub"])
        if not array or (op == "Sub" and array.type == "u64"):
            return
        mode = f"atomic:{op}"
        if self.level != "block" and not self.can_use(array, mode):
            return
        value, place, condition = self.word(array.type), self.any_place(array), self.condition(1)
        self.use(array, mode)
        statement: object = Atomic(op, array, place, value)
        if op == "CAS":
            statement = CasLoop("^", array, place, value, self.fresh("c"), self.rng.random() < 0.5)
        self.emit(Branch(condition, [statement]) if self.rng.random() < 0.4 else statement)

    def fence(self) -> None:
        self.emit(Plain(self.rng.choice(["__threadfence();", "__threadfence_block();", ";", "{ }"])))

    # Pieces for lanes that run together

    def lane(self) -> Expression:
        return binary("%", variable("t", "u32"), number(32, "u32"))

    def warp_call(self, text: str, kind: str, type_: str, *values: Expression, width: int = 32) -> Expression:
        return Expression("warp", type_, (self.mask, *values), name=text, value=(kind, width))

    def warp_value(self) -> Expression:
        type_ = self.rng.choice([*WORDS, "f32"])
        return cast(self.of_type(type_, 2), type_)

    def is_whole(self) -> bool:
        """Return whether all 32 lanes call."""
        return self.level in ("block", "warp") and self.threads % 32 == 0

    def shuffle(self) -> None:
        """Shuffle; a lane whose source does not call keeps its own value."""
        value = self.warp_value()
        original = self.declare(value.type, value, "w", f"const {SPELLING[value.type]}")
        kind, width = (
            self.rng.choice(["shfl", "shfl_up", "shfl_down", "shfl_xor"]),
            self.rng.choice([32, 32, 16, 8, 4, 2]),
        )
        by = self.rng.randrange(1, width)
        lane, amount = self.declare("u32", self.lane(), "lane", "const unsigned"), number(by, "u32")
        inside = binary("%", lane, number(width, "u32"))
        source = {
            "shfl": binary("+", binary("-", lane, inside), number(by, "u32")),
            "shfl_up": choose(binary(">=", inside, amount), binary("-", lane, amount), lane),
            "shfl_down": choose(
                binary("<", binary("+", inside, amount), number(width, "u32")), binary("+", lane, amount), lane
            ),
            "shfl_xor": binary("^", lane, amount),
        }[kind]
        suffix = f", {width}" if width < 32 or self.rng.random() < 0.2 else ""
        text = f"__{kind}_sync({{0}}, {{1}}, {{2}}{suffix})"
        shuffled = self.declare(value.type, self.warp_call(text, kind, value.type, original, number(by), width=width))
        if not self.is_whole():
            source_calls = binary("&", binary(">>", self.mask, source), number(1, "u32"))
            self.emit(Assign(shuffled.name, shuffled.type, choose(source_calls, shuffled, original)))

    def leader(self) -> None:
        """Give all lanes the value of the first lane that calls."""
        value = self.warp_value()
        first = binary("-", call("__ffs", self.mask), number(1))
        self.declare(value.type, self.warp_call("__shfl_sync({0}, {1}, {2})", "shfl", value.type, value, first))

    def vote(self) -> None:
        kind = self.rng.choice(["ballot", "any", "all", "match_any"])
        if kind == "match_any":
            value = binary("&", cast(self.integer(2), t := self.rng.choice(WORDS)), number(self.rng.choice([1, 3]), t))
            self.declare("u32", self.warp_call("__match_any_sync({0}, {1})", kind, "u32", value))
            return
        e = self.warp_call(
            f"__{kind}_sync({{0}}, {{1}})", kind, "u32" if kind == "ballot" else "i32", self.condition(2)
        )
        votes = self.declare(e.type, e)
        if kind == "ballot" and self.rng.random() < 0.5:
            below = binary("-", binary("<<", number(1, "u32"), self.lane()), number(1, "u32"))
            self.declare("i32", call("__popc", binary("&", votes, below)))

    def reduce(self) -> None:
        name = self.rng.choice(["add", "min", "max", "and", "or", "xor"])
        type_ = self.rng.choice(["u32", "i32"]) if name in ("add", "min", "max") else "u32"
        self.declare(
            type_, self.warp_call(f"__reduce_{name}_sync({{0}}, {{1}})", name, type_, cast(self.integer(2), type_))
        )

    def split(self) -> None:
        """Let lanes take two branches, each with its own mask."""
        condition = self.declare("i32", self.condition(2), "c", "const int")
        ballot = self.warp_call("__ballot_sync({0}, {1})", "ballot", "u32", condition)
        votes = self.declare("u32", ballot, "m", "const unsigned")
        then = self.inside(lambda: self.pieces("lanes", self.rng.randrange(1, 3)), "lanes", votes)
        otherwise = []
        if self.rng.random() < 0.6:
            others = binary("&", self.mask, Expression("~", "u32", (votes,)))
            otherwise = self.inside(lambda: self.pieces("lanes", self.rng.randrange(1, 3)), "lanes", others)
        self.emit(Branch(condition, then, otherwise))

    def match_groups(self) -> None:
        """Let lanes with the same key work together, each group with its own mask."""
        key = binary("&", cast(self.integer(2), "u32"), number(self.rng.choice([1, 3]), "u32"))
        match = self.warp_call("__match_any_sync({0}, {1})", "match_any", "u32", key)
        mask = self.declare("u32", match, "m", "const unsigned")
        level, saved_mask = self.level, self.mask
        self.level, self.mask = "lanes", mask
        self.rng.choice([self.leader, self.reduce, self.vote])()
        self.level, self.mask = level, saved_mask

    def warp_exchange(self) -> None:
        """Let lanes exchange through a shared array, ordered by __syncwarp() alone."""
        array = self.some_shared(lambda a: len(a.dims) == 1 and not is_float(a.type))
        if not array or (self.level != "block" and not self.can_use(array, "own:0")):
            return
        value = self.integer(2)
        self.use(array, "own:0")
        t, lanes = variable("t", "u32"), self.lanes_here()
        self.emit(Store(array, [t], value))
        self.emit(self.warp_barrier(array.name))
        other = binary("%", binary("+", self.lane(), number(self.rng.randrange(1, 31), "u32")), lanes)
        self.declare(array.type, load(array, binary("+", binary("-", t, self.lane()), other)))
        self.emit(self.warp_barrier(array.name))

    def lanes_here(self) -> Expression:
        """Return how many lanes of the warp exist."""
        if self.threads % 32 == 0:
            return number(32, "u32")
        remaining = binary("-", number(self.threads, "u32"), binary("-", variable("t", "u32"), self.lane()))
        return call("min", remaining, number(32, "u32"), type_="u32")

    def warp_barrier(self, orders: str = "") -> WarpBarrier:
        texts = ["", ""] + (["__syncwarp();"] if self.is_whole() else [])
        if 32 in self.tiles and self.is_whole():
            texts.append("tile32.sync();")
        return WarpBarrier(self.mask, self.rng.choice(texts), orders)

    def tile(self) -> None:
        """Call a function of a tile of a cooperative group."""
        if not self.tiles or self.level not in ("block", "warp"):
            return
        width = self.rng.choice(self.tiles)
        value = cast(self.integer(2), self.rng.choice(WORDS))
        spelled = SPELLING[value.type]
        name, by = f"tile{width}", number(self.rng.randrange(1, width))
        kind = self.rng.choice(
            ["shfl", "shfl_up", "shfl_down", "shfl_xor", "any", "all", "ballot", "reduce", "scan", "match_any"]
        )
        if kind.startswith("shfl"):
            e = self.warp_call(f"{name}.{kind}({{1}}, {{2}})", f"tile_{kind}", value.type, value, by, width=width)
        elif kind in ("any", "all", "ballot"):
            type_ = "u32" if kind == "ballot" else "i32"
            e = self.warp_call(f"{name}.{kind}({{1}})", f"tile_{kind}", type_, self.condition(2), width=width)
        elif kind == "match_any":
            key = binary("&", value, number(3, value.type))
            e = self.warp_call(f"{name}.match_any({{1}})", f"tile_{kind}", "u32", key, width=width)
        else:
            e = self.tile_reduction(kind, name, spelled, value, width)
        self.declare(e.type, e)

    def tile_reduction(self, kind: str, name: str, spelled: str, value: Expression, width: int) -> Expression:
        op = self.rng.choice(["add", "min", "max", "xor", "or", "and"])
        functor = {"add": "plus", "min": "less", "max": "greater", "xor": "bit_xor", "or": "bit_or", "and": "bit_and"}[
            op
        ]
        if kind == "reduce":
            text = f"cg::reduce({name}, {{1}}, cg::{functor}<{spelled}>())"
            return self.warp_call(text, f"tile_{op}", value.type, value, width=width)
        which = self.rng.choice(["inclusive", "exclusive"])
        functor, op = ("plus", "add") if which == "exclusive" else (functor, op)
        text = f"cg::{which}_scan({name}, {{1}}, cg::{functor}<{spelled}>())"
        return self.warp_call(text, f"tile_{op}_{which}", value.type, value, width=width)

    # Pieces of whole blocks

    def uniform(self) -> Expression:
        """Return a condition that is the same for all threads of a block."""
        left = self.rng.choice(
            [variable("b", "u32"), variable("p", "i32"), builtin("blockIdx.x"), builtin("gridDim.x")]
        )
        bit = binary("&", left, number(self.rng.choice([1, 2, 3]), left.type))
        return binary(self.rng.choice(["==", "!="]), bit, number(self.rng.randrange(2), left.type))

    def uniform_branch(self) -> None:
        condition, modes = self.uniform(), dict(self.modes)
        then = self.inside(lambda: self.pieces("block", self.rng.randrange(1, 4)))
        after = self.modes
        self.modes = dict(modes)
        otherwise = []
        if self.rng.random() < 0.5:
            otherwise = self.inside(lambda: self.pieces("block", self.rng.randrange(1, 3)))
        self.merge(after)
        self.emit(Branch(condition, then, otherwise))

    def merge(self, other: dict[str, str]) -> None:
        for name in {*self.modes, *other}:
            known = {self.modes.get(name), other.get(name)} - {None}
            self.modes[name] = known.pop() if len(known) == 1 else "mixed"

    def uniform_loop(self) -> None:
        """Emit a loop of the whole block. Each iteration begins with a barrier, so it may use shared arrays freely."""
        name = self.fresh("i")
        i, turns = variable(name, "i32"), self.rng.randrange(2, 4)
        limit = number(turns)
        if self.rng.random() < 0.4:
            limit = binary("+", binary("&", variable("p", "i32"), number(1)), number(1))

        def make() -> None:
            self.variables.append((name, "i32"))
            self.constant_names.add(name)
            self.barrier(self.shared[0].name if self.shared else "")
            self.pieces("block", self.rng.randrange(1, 4))

        body = self.inside(make)
        pragma = self.rng.choice(["", "", "#pragma unroll"])
        self.emit(Loop("for", name, "i32", number(0), binary("<", i, limit), number(1), body, pragma))

    def warp_branch(self) -> None:
        """Let whole warps take different branches."""
        warp = binary("/", variable("t", "u32"), number(32, "u32"))
        condition = binary("==", binary("&", warp, number(1, "u32")), number(self.rng.randrange(2), "u32"))
        then = self.inside(lambda: self.pieces("warp", self.rng.randrange(1, 4)), "warp")
        otherwise = self.inside(lambda: self.pieces("warp", 1), "warp") if self.rng.random() < 0.4 else []
        self.emit(Branch(condition, then, otherwise))

    def block_vote(self) -> None:
        kind = self.rng.choice(["count", "and", "or"])
        text = f"__syncthreads_{kind}({{0}})"
        condition = self.condition(2)
        self.declare("i32", Expression("warp", "i32", (condition,), name=text, value=(f"block_{kind}", 0)))
        self.modes.clear()

    def tree(self) -> None:
        """Reduce in shared memory, with a barrier in each iteration."""
        array = self.some_shared(lambda a: len(a.dims) == 1 and a.type in ("i32", "u32", "i64", "u64"))
        if not array:
            return
        t, value = variable("t", "u32"), cast(self.integer(2), array.type)
        self.use(array, "own:0")
        self.emit(Store(array, [t], value))
        self.barrier(array.name)
        half = 1
        while half * 2 < self.threads:
            half *= 2
        s = self.fresh("i")
        stride, other = variable(s, "u32"), binary("+", t, variable(s, "u32"))
        op = self.rng.choice(["^", "+", "|"])
        total = Store(array, [t], cast(binary(op, load(array, t), load(array, other)), array.type))
        inside = binary("&&", binary("<", t, stride), binary("<", other, number(self.threads, "u32")))
        body = [Branch(inside, [total]), Barrier("__syncthreads();", array.name)]
        step = binary("-", binary(">>", stride, number(1)), stride)
        self.emit(Loop("for", s, "u32", number(half, "u32"), binary(">", stride, number(0, "u32")), step, body))
        self.modes.clear()
        self.use(array, "read")
        self.declare(array.type, load(array, number(0, "u32")))

    def scan(self) -> None:
        """Scan in shared memory, with two barriers in each iteration."""
        array = self.some_shared(lambda a: len(a.dims) == 1 and a.type in ("u32", "u64", "i32"))
        if not array:
            return
        t, value, type_ = variable("t", "u32"), cast(self.integer(2), array.type), array.type
        self.use(array, "own:0")
        self.emit(Store(array, [t], value))
        self.barrier(array.name)
        s, sum_ = self.fresh("i"), self.fresh("sum")
        stride = variable(s, "u32")
        neighbour = load(array, choose(binary(">=", t, stride), binary("-", t, stride), number(0, "u32")))
        read = Assign(sum_, type_, choose(binary(">=", t, stride), neighbour, number(0, type_)), declare=True)
        add = Store(array, [t], cast(binary("+", load(array, t), variable(sum_, type_)), type_))
        body = [read, Barrier("__syncthreads();", array.name), add, Barrier("__syncthreads();", array.name)]
        limit = binary("<", stride, number(self.threads, "u32"))
        self.emit(Loop("for", s, "u32", number(1, "u32"), limit, variable(s, "u32"), body))
        self.modes.clear()
        self.use(array, "read")
        self.declare(type_, load(array, *self.any_place(array)))

    def exchange_chain(self) -> None:
        """Exchange one element in an unknown order: the exclusive or of all values does not depend on the order."""
        slot, rest = Array(self.fresh("s"), "u32", (1,), "shared"), Array(self.fresh("s"), "u32", (1,), "shared")
        self.kernel.shared += [slot, rest]
        first, zero, t = [], number(0, "u32"), variable("t", "u32")
        for array in (slot, rest):
            first.append(Store(array, [zero], number(self.rng.randrange(100), "u32")))
        self.emit(Branch(binary("==", t, zero), first))
        self.barrier(slot.name)
        old = self.fresh("old")
        self.emit(Atomic("Exch", slot, [zero], cast(self.integer(2), "u32"), old))
        self.emit(Atomic("Xor", rest, [zero], variable(old, "u32")))
        self.barrier(rest.name)
        self.declare("u32", binary("^", load(slot, zero), load(rest, zero)))

    def tickets(self) -> None:
        """Let threads draw numbers: the sum of a function of all numbers is known."""
        counter, total = Array(self.fresh("s"), "u32", (1,), "shared"), Array(self.fresh("s"), "u32", (1,), "shared")
        self.kernel.shared += [counter, total]
        zero, t = number(0, "u32"), variable("t", "u32")
        self.emit(Branch(binary("==", t, zero), [Store(a, [zero], number(5, "u32")) for a in (counter, total)]))
        self.barrier(counter.name)
        old = self.fresh("old")
        draw = [Atomic("Add", counter, [zero], number(1, "u32"), old)]
        draw.append(Atomic("Add", total, [zero], binary("*", variable(old, "u32"), variable(old, "u32"))))
        self.emit(Branch(self.condition(1), draw))
        self.barrier(total.name)
        self.declare("u32", binary("+", load(counter, zero), load(total, zero)))

    # The choice of pieces

    def pieces(self, level: str, count: int) -> None:
        for _ in range(count):
            self.piece(level)

    def piece(self, level: str) -> None:
        deep = self.depth >= 3
        choices: list[tuple[float, Callable[[], None]]] = [
            (14, self.assign),
            (5 if self.own else 0, self.store_own),
            (2 if self.own else 0, self.load_own),
            (0 if deep else 4, self.branch),
            (0 if deep else 4, self.loop),
            (0 if deep else 2, self.switch),
            (2, self.local_array),
            (1, self.record),
            (2, self.vector),
            (2, self.load_vector),
            (4 if self.totals else 0, self.total_atomic),
            (2, self.own_atomic),
            (6, self.shared_access),
            (2, self.shared_atomic),
            (0.5, self.fence),
        ]
        if level in ("block", "warp", "lanes"):
            choices += [
                (3, self.shuffle),
                (1.5, self.leader),
                (2, self.vote),
                (2, self.reduce),
                (1.5, self.match_groups),
            ]
            choices += [(0 if deep else 2.5, self.split)]
        if level in ("block", "warp"):
            choices += [(2.5, self.warp_exchange), (5 if self.tiles else 0, self.tile)]
        if level == "block":
            choices += [
                (8, self.shared_access),
                (3, self.shared_atomic),
                (2, self.block_vote),
                (1.5, self.tree),
                (1.5, self.scan),
            ]
            choices += [(1, self.exchange_chain), (1, self.tickets)]
            choices += [(0 if deep else 3, make) for make in (self.uniform_branch, self.uniform_loop, self.warp_branch)]
        self.weighted_choice(*choices)()

    # Whole kernels

    def build(self, functions: int) -> Kernel:
        k, rng = self.kernel, self.rng
        if rng.random() < 0.35:
            k.groups = True
            self.tiles = [w for w in (32, 16, 8, 4, 2) if self.threads % w == 0 and rng.random() < 0.6]
        k.prefix = rng.choice(["", "", f"__launch_bounds__({self.threads})", "__launch_bounds__(1024)"])
        for i in range(functions):
            self.functions.append(self.make_function(f"{k.name}_f{i}"))
        k.functions += self.functions
        self.add_parameters()
        self.prologue()
        self.pieces("block", rng.randrange(5, 13))
        if rng.random() < 0.2:
            self.last_block()
        if k.cooperative:
            self.grid_phase()
        self.pieces("block", rng.randrange(0, 3))
        if rng.random() < 0.2:
            self.emit(Branch(self.condition(), [Leave("return")]))
        self.epilogue()
        dynamic = [a.size * bits(a.type) // 8 for a in k.shared if a.space == "dynamic"]
        k.dynamic_bytes = sum((size + 15) // 16 * 16 for size in dynamic[:-1]) + sum(dynamic[-1:])
        k.parameters += [Parameter("p", "i32"), Parameter("q", "u64"), Parameter("x", "f32")]
        return k

    def add_parameters(self) -> None:
        k, rng = self.kernel, self.rng
        for array in self.inputs:
            k.parameters.append(Parameter(array.name, array.type, array, restrict=rng.random() < 0.5))
        for i in range(rng.choice([1, 1, 2])):
            each = rng.choice([1, 1, 2, 3, 4])
            array = Array(
                f"out{i}",
                rng.choice(["u32", "u32", "i32", "u8", "i16", "u64", "i64", "f32"]),
                (self.total * each,),
                "output",
            )
            if rng.random() < 0.5:
                array.align = each  # a thread's elements are neighbours
            k.parameters.append(Parameter(array.name, array.type, array, written=True, restrict=rng.random() < 0.3))
            self.own.append((array, lambda array=array, each=each: self.own_output(array, each)))
        ways = [("Add", ("u32", "i32", "u64", "f32")), ("Min", WORDS), ("Max", WORDS), ("Xor", ("u32", "i32", "u64"))]
        ways += [("And", ("u32", "i32", "u64")), ("Or", ("u32", "u64")), ("Sub", ("i32", "u32")), ("Inc", ("u32",))]
        ways += [("Dec", ("u32",)), ("CAS", ("u32", "i32", "u64"))] + ([("groups", ("u32", "i32"))] if k.groups else [])
        for i in range(rng.choice([0, 1, 1, 2])):
            op, types = rng.choice(ways)
            array = Array(f"total{i}", rng.choice(types), (rng.choice([1, 2, 7, 16, 100]),), "output")
            k.parameters.append(Parameter(array.name, array.type, array, written=True))
            self.totals[array.name] = (array, op)

    def own_output(self, array: Array, each: int) -> Expression:
        g, i = variable("g", "u32"), number(self.rng.randrange(each), "u32")
        if each == 1:
            return g
        if array.align:
            return binary("+", binary("*", g, number(each, "u32")), i)
        return binary("+", binary("*", i, number(self.total, "u32")), g)

    def prologue(self) -> None:
        k, rng = self.kernel, self.rng
        if k.groups:
            self.emit(Plain("cg::thread_block block = cg::this_thread_block();"))
            for width in self.tiles:
                type_ = rng.choice(["auto", f"cg::thread_block_tile<{width}>"])
                self.emit(Plain(f"{type_} tile{width} = cg::tiled_partition<{width}>(block);"))
        x, y, z = (builtin(f"threadIdx.{axis}") for axis in "xyz")
        row = binary("+", y, binary("*", builtin("blockDim.y"), z))
        t = x if self.block[1:] == (1, 1) else binary("+", x, binary("*", builtin("blockDim.x"), row))
        if k.groups and rng.random() < 0.4:
            t = builtin("block.thread_rank()")
        x, y, z = (builtin(f"blockIdx.{axis}") for axis in "xyz")
        row = binary("+", y, binary("*", builtin("gridDim.y"), z))
        b = x if self.grid[1:] == (1, 1) else binary("+", x, binary("*", builtin("gridDim.x"), row))
        values = {
            "t": t,
            "b": b,
            "g": binary("+", binary("*", variable("b", "u32"), number(self.threads, "u32")), variable("t", "u32")),
        }
        for name, value in values.items():
            self.emit(Assign(name, "u32", value, declare=True, spelling="const unsigned"))
            self.variables.append((name, "u32"))
        self.variables += [("p", "i32"), ("q", "u64"), ("x", "f32")]
        self.constant_names |= {"p", "q", "x"}
        if self.threads % 32:
            lanes = self.lanes_here()
            mask = binary("-", binary("<<", number(1, "u64"), lanes), number(1, "u64"))
            self.mask = self.declare("u32", cast(mask, "u32"), "wmask", "const unsigned")
        for width in self.tiles:
            for member in rng.sample(["thread_rank()", "meta_group_rank()", "size()", "meta_group_size()"], 1):
                self.declare("u32", builtin(f"tile{width}.{member}"))
        self.sink = "h"
        self.emit(Assign(self.sink, "u32", number(17, "u32"), declare=True))
        self.template_parameters()
        if rng.random() < 0.2:
            function = self.make_function(f"{k.name}_lambda", lambda_=True)
            self.emit(function)
            self.functions.append(function)
        for type_ in rng.sample(["i32", "u32", "i64", "u64", "u8", "i16", "f32", "f64"], 4):
            self.declare(type_, self.of_type(type_, 1), spelling="T" if (type_ == "i32" and k.template) else "")

    def template_parameters(self) -> None:
        if self.rng.random() < 0.2:
            value = self.rng.randrange(1, 50)
            self.kernel.template = [("typename", "T", "int"), ("int", "N", str(value))]
            self.loads.append(lambda: number(value, "i32", "N"))

    def make_function(self, name: str, lambda_: bool = False) -> Function:
        rng = self.rng
        inner = Builder(rng, name, [], [])
        inner.level = "thread"
        parameters = [(rng.choice([*WORDS, "u8", "i16"]), f"x{i}") for i in range(rng.randrange(1, 4))]
        inner.variables = [(n, t) for t, n in parameters] + ([("t", "u32"), ("b", "u32")] if lambda_ else [])
        type_ = rng.choice([*WORDS, "u8"])
        inner.functions = [] if lambda_ else list(self.functions)
        for _ in range(rng.randrange(0, 3)):
            inner.weighted_choice(
                (3, inner.assign), (1, inner.loop), (1, inner.branch), (1, inner.local_array), (1, inner.switch)
            )()
        if rng.random() < 0.4:
            inner.emit(Branch(inner.condition(), [Leave("return", cast(inner.integer(1), type_))]))
        qualifiers = rng.choice(["", "", "__forceinline__", "__noinline__", "inline"])
        result = cast(inner.integer(2), type_)
        template = not lambda_ and rng.random() < 0.2
        return Function(name, parameters, type_, inner.body, result, "" if template else qualifiers, template, lambda_)

    def last_block(self) -> None:
        """Let the block that finishes last combine the results of all blocks, as in NVIDIA's threadFenceReduction."""
        k, zero, t, b = self.kernel, number(0, "u32"), variable("t", "u32"), variable("b", "u32")
        partial = Array("partial", "u32", (k.blocks,), "output")
        count, result = Array("finished", "u32", (1,), "output"), Array("result", "u32", (1,), "output")
        k.parameters += [Parameter(a.name, a.type, a, written=True) for a in (partial, count, result)]
        last, old = Array(self.fresh("s"), "i32", (1,), "shared"), self.fresh("old")
        k.shared.append(last)
        first_part = [Store(partial, [b], cast(self.integer(1), "u32")), Plain("__threadfence();")]
        first_part.append(Atomic("Add", count, [zero], number(1, "u32"), old))
        first_part.append(Store(last, [zero], binary("==", variable(old, "u32"), number(k.blocks - 1, "u32"))))
        self.emit(Branch(binary("==", t, zero), first_part))
        self.barrier(last.name)
        i, sum_ = self.fresh("i"), self.fresh("sum")
        value = load(partial, variable(i, "u32"), name="__ldcg")
        body = [Assign(sum_, "u32", binary("*", binary("+", variable(sum_, "u32"), value), number(31, "u32")))]
        limit = binary("<", variable(i, "u32"), number(k.blocks, "u32"))
        add = [Assign(sum_, "u32", zero, declare=True), Loop("for", i, "u32", zero, limit, number(1, "u32"), body)]
        add.append(Branch(binary("==", t, zero), [Store(result, [zero], variable(sum_, "u32"))]))
        self.emit(Branch(binary("!=", load(last, zero), number(0)), add))

    def grid_phase(self) -> None:
        """Let each thread write its element, wait at a barrier of the grid, and read any element of the array."""
        array, at = self.own.pop(0)
        self.emit(Store(array, [at()], self.of_type(array.type, 2)))
        self.emit(Barrier("cg::this_grid().sync();", array.name))
        self.modes.clear()
        self.read(load(array, self.index(array.size)))

    def epilogue(self) -> None:
        """Let every remaining variable change the output."""
        for name, type_ in list(self.variables):
            self.observe(name, type_)
        h = variable(self.sink, "u32")
        for array, at in self.own:
            self.emit(
                Store(array, [at()], cast(h, array.type) if not is_float(array.type) else self.of_type(array.type, 2))
            )


def make_inputs(rng: random.Random, before: list[Buffer]) -> tuple[list[Array], list[Buffer]]:
    """Return a kernel's input arrays and their buffers: new ones, or buffers that an earlier kernel wrote."""
    arrays, buffers = [], []
    for i in range(rng.randrange(1, 4)):
        if before and rng.random() < 0.5:
            buffer = rng.choice(before)
        else:
            kind = rng.choices(["device", "managed", "pinned"], [8, 1, 1])[0]
            type_ = rng.choice([*INTEGERS, "i32", "u32", "f32", "f64"])
            buffer = Buffer(
                f"b{rng.randrange(1 << 20)}", type_, rng.choice([16, 64, 100, 129, 300]), rng.randrange(1 << 60), kind
            )
        arrays.append(Array(f"in{i}", buffer.type, (buffer.size,), "input"))
        buffers.append(buffer)
    return arrays, buffers


class CaseMaker:
    """Combines kernels, buffers and the host's steps."""

    def __init__(self, seed: int, name: str):
        self.rng = random.Random(f"warplab {seed}")
        self.case = Case(seed, [], [], [], [])
        self.name = name
        self.stream_of: dict[str, int] = {}

    def make(self) -> Case:
        tables = self.tables()
        written: list[Buffer] = []
        for i in range(self.rng.choice([1, 1, 2, 3])):
            written += self.add_kernel(f"{self.name}_{i}", written, tables)
            if self.rng.random() < 0.25:
                written += self.copy_rows(written)
        return self.case

    def tables(self) -> list[Array]:
        if self.rng.random() < 0.6:
            return []
        type_ = self.rng.choice(["i32", "u32", "u8", "i16", "u64"])
        array = Array(f"{self.name}_table", type_, (self.rng.choice([4, 16, 33]),), "constant")
        low = -100 if is_signed(type_) else 0
        values = [self.rng.randrange(low, 120) for _ in range(array.size)]
        self.case.constants.append((array, values, self.rng.random() < 0.5))
        return [array]

    def add_kernel(self, name: str, written: list[Buffer], tables: list[Array]) -> list[Buffer]:
        rng = self.rng
        inputs, buffers = make_inputs(rng, written)
        builder = Builder(rng, name, inputs, tables)
        builder.kernel.cooperative = rng.random() < 0.06
        k = builder.build(rng.choice([0, 0, 1, 2]))
        self.case.kernels.append(k)
        outputs = [
            Buffer(
                f"{name}_{p.name}",
                p.type,
                p.array.size,
                rng.randrange(1 << 60),
                rng.choice(["device"] * 6 + ["managed"]),
            )
            for p in k.parameters
            if p.array and p.written
        ]
        new = {b.name: b for b in buffers + outputs if b not in self.case.buffers}
        self.case.buffers += new.values()
        names = {
            p.name: b.name for p, b in zip((p for p in k.parameters if p.array and not p.written), buffers, strict=True)
        }
        names |= {
            p.name: b.name for p, b in zip((p for p in k.parameters if p.array and p.written), outputs, strict=True)
        }
        for _ in range(rng.choice([1, 1, 1, 2])):
            self.launch(k, names)
        if rng.random() < 0.3:
            self.change_on_host(outputs)
        return outputs

    def launch(self, k: Kernel, names: dict[str, str]) -> None:
        rng = self.rng
        stream = rng.choice([0, 0, 1, 2]) if not k.cooperative else 0
        if "finished" in names:
            self.follow(stream, [names["finished"]])
            self.case.steps.append(Fill(names["finished"], 0, 4, stream if stream else None))
        numbers = {"p": rng.randrange(-100, 100), "q": rng.randrange(1 << 64), "x": rng.randrange(-800, 800) / 16}
        self.follow(stream, list(names.values()))
        self.case.steps.append(Launch(k, [names.get(p.name, numbers.get(p.name)) for p in k.parameters], stream))

    def follow(self, stream: int, names: list[str]) -> None:
        """Make the stream wait for other streams' work on these buffers; the default stream waits by itself."""
        others = {self.stream_of[n] for n in names if n in self.stream_of} - {stream, 0}
        if stream:
            for other in sorted(others):
                kind = self.rng.choice(["event", "event", "device", "stream"])
                self.case.steps.append(Wait(kind, other, stream))
        for name in names:
            self.stream_of[name] = stream

    def change_on_host(self, outputs: list[Buffer]) -> None:
        for buffer in outputs:
            if buffer.kind == "managed" and not is_float(buffer.type):
                self.case.steps += [Wait("device"), HostChange(buffer.name, self.rng.randrange(1, 9))]

    def copy_rows(self, written: list[Buffer]) -> list[Buffer]:
        """Copy a rectangle out of a buffer into a new one."""
        source = self.rng.choice(written)
        width = self.rng.randrange(1, min(9, source.size + 1))
        source_pitch = self.rng.randrange(width, source.size + 1) if self.rng.random() < 0.5 else width
        height = max(1, min(6, (source.size - width) // source_pitch + 1))
        pitch = width + self.rng.randrange(0, 4)
        target = Buffer(
            f"{source.name}_rows{len(self.case.buffers)}", source.type, pitch * height, self.rng.randrange(1 << 60)
        )
        stream = self.rng.choice([None, 1, 2])
        self.follow(stream or 0, [source.name, target.name])
        self.case.buffers.append(target)
        self.case.steps.append(CopyRows(target.name, source.name, pitch, source_pitch, width, height, stream))
        if self.rng.random() < 0.3 and not is_float(target.type):
            self.follow(stream or 0, [target.name])
            unit = bits(target.type) // 8
            self.case.steps.append(Fill(target.name, self.rng.randrange(256), width * unit, stream))
        return [target]


def make_case(seed: int) -> Case:
    """Return the case of a seed; it is the same on every machine."""
    return CaseMaker(seed, f"k{seed}").make()
