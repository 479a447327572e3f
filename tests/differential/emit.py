"""Write cases as CUDA source."""

from __future__ import annotations

from collections.abc import Iterable

from tests.differential.syntax import (
    COMPARISONS,
    SPELLING,
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
    is_float,
    is_signed,
    promoted,
)


def constant(type_: str, value: float) -> str:
    if is_float(type_):
        return f"{float(value)!r}{'f' if type_ == 'f32' else ''}"
    if type_ in ("i8", "u8", "i16", "u16"):
        return f"({SPELLING[type_]}){value}" if value >= 0 else f"({SPELLING[type_]})({value})"
    suffix = {"i32": "", "u32": "u", "i64": "ll", "u64": "ull"}[type_]
    if is_signed(type_) and value == -(1 << (bits(type_) - 1)):
        return f"({value + 1}{suffix} - 1)"
    return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"


def text(e: Expression) -> str:
    """Return the expression in CUDA; signed arithmetic that may overflow is done in the unsigned type."""
    match e.op:
        case "constant":
            return e.name or constant(e.type, e.value)
        case "variable" | "builtin":
            return e.name
        case "load":
            place = element(e.array, e.parts)
            return f"{e.name}(&{place})" if e.name else place
        case "cast":
            return f"({SPELLING[e.type]}){operand(e.parts[0])}"
        case "?:":
            condition, then, otherwise = map(text, e.parts)
            return f"({condition} ? {then} : {otherwise})"
        case "call":
            return f"{e.name}({', '.join(map(text, e.parts))})"
        case "user":
            return f"{e.function.name}({', '.join(map(text, e.parts))})"
        case "warp":
            return e.name.format(*map(text, e.parts))
        case "~" | "!" | "negate":
            return unary(e)
        case _:
            return binary(e)


def operand(e: Expression) -> str:
    simple = e.op in ("variable", "builtin", "load", "call", "user", "?:") or (e.op == "constant" and e.value >= 0)
    inner = text(e)
    return inner if simple or (inner.startswith("(") and e.op not in ("cast", "constant")) else f"({inner})"


def unary(e: Expression) -> str:
    (inner,) = e.parts
    if e.op != "negate":
        return f"{e.op}{operand(inner)}"
    if is_float(e.type):
        return f"-{operand(inner)}"
    if is_signed(e.type) and bits(inner.type) >= 32:
        return f"({SPELLING[e.type]})(0{'ull' if e.type == 'i64' else 'u'} - {operand(inner)})"
    return f"-{operand(inner)}"


def binary(e: Expression) -> str:
    left, right = map(operand, e.parts)
    plain = f"({left} {e.op} {right})"
    if e.op in COMPARISONS or e.op in ("&&", "||") or not is_signed(e.type):
        return plain
    unsigned = f"(unsigned{' long long' if e.type == 'i64' else ''})"
    if e.op == "<<":
        return f"({SPELLING[e.type]})({unsigned}{left} << {right})"
    narrow = all(bits(promoted(p.type)) == 32 and bits(p.type) < 32 for p in e.parts)
    safe = narrow and not (e.op == "*" and any(p.type == "u16" for p in e.parts))
    if e.op not in "+-*" or safe:
        return plain
    return f"({SPELLING[e.type]})({unsigned}{left} {e.op} {unsigned}{right})"


def element(array: Array, indices: Iterable[Expression]) -> str:
    return array.name + "".join(f"[{text(index)}]" for index in indices)


def indent(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def block(statements: list) -> list[str]:
    return indent(line for statement in statements for line in lines_of(statement))


def lines_of(s) -> list[str]:
    """Return a statement's lines."""
    match s:
        case Assign():
            spelling = f"{s.spelling or SPELLING[s.type]} " if s.declare else ""
            return [f"{spelling}{s.target} {s.op}= {text(s.value)};"]
        case Store():
            return [f"{element(s.array, s.indices)} {s.op}= {text(s.value)};"]
        case DeclareArray():
            values = ", ".join(text(value) for value in s.values)
            return [f"{SPELLING[s.array.type]} {s.array.name}[{s.array.dims[0]}] = {{{values}}};"]
        case Record():
            values = ", ".join(text(value) for value in s.values)
            return [f"{s.type} {s.name} = {{{values}}};"]
        case VectorLoad():
            return [f"{s.vector} {s.name} = reinterpret_cast<const {s.vector}*>({s.array.name})[{text(s.index)}];"]
        case VectorStore():
            return [f"reinterpret_cast<{s.vector}*>({s.array.name})[{text(s.index)}] = {s.name};"]
        case Atomic():
            return [atomic(s)]
        case CasLoop():
            return cas_loop(s)
        case AggregatedAdd():
            return aggregated_add(s)
        case Branch():
            return branch(s)
        case Loop():
            return loop(s)
        case Switch():
            return switch(s)
        case Function():
            return function(s)
        case Leave():
            return [f"{s.kind} {text(s.value)};" if s.value else f"{s.kind};"]
        case Barrier() | Plain():
            return [s.text] if s.text else []
        case WarpBarrier():
            return [s.text or f"__syncwarp({text(s.mask)});"]
    raise TypeError(s)


def atomic(s: Atomic) -> str:
    arguments = [f"&{element(s.array, s.indices)}"] + ([text(s.compare)] if s.compare else []) + [text(s.value)]
    old = f"const {SPELLING[s.array.type]} {s.result} = " if s.result else ""
    return f"{old}atomic{s.op}({', '.join(arguments)});"


def cas_loop(s: CasLoop) -> list[str]:
    place, type_, name = element(s.array, s.indices), SPELLING[s.array.type], s.name
    zero = f"({type_})0"
    first = place if s.guarded_read else f"atomicCAS(&{place}, {zero}, {zero})"
    change = {
        "*": f"{name}_expected * {name}_value",
        "max": f"{name}_expected < {name}_value ? {name}_value : {name}_expected",
        "^": f"{name}_expected ^ {name}_value",
    }[s.op]
    return [
        f"const {type_} {name}_value = {text(s.value)};",
        f"{type_} {name}_seen = {first}, {name}_expected;",
        "do {",
        f"    {name}_expected = {name}_seen;",
        f"    {name}_seen = atomicCAS(&{place}, {name}_expected, ({type_})({change}));",
        f"}} while ({name}_seen != {name}_expected);",
    ]


def aggregated_add(s: AggregatedAdd) -> list[str]:
    place, type_ = element(s.array, s.indices), SPELLING[s.array.type]
    return [
        "{",
        f"    cg::coalesced_group {s.name} = cg::coalesced_threads();",
        f"    if ({s.name}.thread_rank() == 0) atomicAdd(&{place}, ({type_}){s.name}.size());",
        "}",
    ]


def branch(s: Branch) -> list[str]:
    otherwise = ["} else {", *block(s.otherwise)] if s.otherwise else []
    return [f"if ({text(s.condition)}) {{", *block(s.then), *otherwise, "}"]


def loop(s: Loop) -> list[str]:
    start, condition = f"{SPELLING[s.type]} {s.variable} = {text(s.start)};", text(s.condition)
    step = f"{s.variable} += {text(s.step)}"
    pragma = [s.pragma] if s.pragma else []
    if s.kind == "for":
        return [*pragma, f"for ({start} {condition}; {step}) {{", *block(s.body), "}"]
    if s.kind == "while":
        return [start, f"while ({condition}) {{", *block(s.body), f"    {step};", "}"]
    return [start, "do {", *block(s.body), f"    {step};", f"}} while ({condition});"]


def switch(s: Switch) -> list[str]:
    lines = [f"switch ({text(s.selector)}) {{"]
    for value, body, leaves in s.cases:
        lines.append(f"    {'default' if value is None else f'case {value}'}: {{")
        lines += indent(block(body)) + (["        break;"] if leaves else []) + ["    }"]
    return [*lines, "}"]


def function(f: Function) -> list[str]:
    """Return the lines of a device function, or of a lambda that is a statement of the kernel."""
    types = {type_: "T" for type_, _ in f.parameters[:1]} if f.template else {}
    parameters = ", ".join(
        f"{types.get(type_, SPELLING[type_]) if not i else SPELLING[type_]} {name}"
        for i, (type_, name) in enumerate(f.parameters)
    )
    body = [*block(f.body), f"    return {text(f.result)};"]
    if f.lambda_:
        return [f"auto {f.name} = [=]({parameters}) -> {SPELLING[f.type]} {{", *body, "};"]
    head = ["template <typename T>"] if f.template else []
    qualifiers = f"__device__ {f.qualifiers} ".replace("  ", " ")
    return [*head, f"{qualifiers}{SPELLING[f.type]} {f.name}({parameters}) {{", *body, "}", ""]


def parameter(p: Parameter) -> str:
    if not p.array:
        return f"{SPELLING[p.type]} {p.name}"
    const = "" if p.written else "const "
    return f"{const}{SPELLING[p.type]}* {'__restrict__ ' if p.restrict else ''}{p.name}"


def shared_declarations(k: Kernel) -> list[str]:
    lines, offset = [], 0
    for array in (a for a in k.shared if a.space == "shared"):
        align = f"__align__({array.align}) " if array.align else ""
        dims = "".join(f"[{dim}]" for dim in array.dims)
        lines.append(f"__shared__ {align}{SPELLING[array.type]} {array.name}{dims};")
    dynamic = [a for a in k.shared if a.space == "dynamic"]
    if len(dynamic) == 1:
        return [*lines, f"extern __shared__ {SPELLING[dynamic[0].type]} {dynamic[0].name}[];"]
    if dynamic:
        lines.append(f"extern __shared__ __align__(16) unsigned char {k.name}_memory[];")
    for array in dynamic:
        spelling = SPELLING[array.type]
        lines.append(f"{spelling}* {array.name} = reinterpret_cast<{spelling}*>({k.name}_memory + {offset});")
        offset += dynamic_bytes(array)
    return lines


def dynamic_bytes(array: Array) -> int:
    """Return the array's size in dynamic shared memory, rounded up so that the next array is aligned."""
    return (array.size * bits(array.type) // 8 + 15) // 16 * 16


def kernel(k: Kernel) -> list[str]:
    lines = [line for f in k.functions if not f.lambda_ for line in function(f)]
    if k.template:
        lines.append(f"template <{', '.join(f'{kind} {name}' for kind, name, _ in k.template)}>")
    prefix = f"{k.prefix} " if k.prefix else ""
    lines.append(f"__global__ {prefix}void {k.name}({', '.join(map(parameter, k.parameters))}) {{")
    lines += indent(shared_declarations(k)) + block(k.body)
    return [*lines, "}", ""]


def dim3(dims: tuple[int, int, int]) -> str:
    used = [str(d) for d in dims]
    while len(used) > 1 and used[-1] == "1":
        used.pop()
    return used[0] if len(used) == 1 else f"dim3({', '.join(used)})"


def launch(s: Launch, buffers: dict) -> list[str]:
    k = s.kernel
    arguments = [
        f"{argument}.data" if isinstance(argument, str) else constant(p.type, argument)
        for p, argument in zip(k.parameters, s.arguments, strict=True)
    ]
    name = k.name + (f"<{', '.join(argument for _, _, argument in k.template)}>" if k.template else "")
    stream = f", streams[{s.stream}]" if s.stream else ""
    if k.cooperative:
        lines = [
            f"{SPELLING[p.type]} {p.name} = {a};" for p, a in zip(k.parameters, arguments, strict=True) if not p.array
        ]
        places = [f"&{a}" if p.array else f"&{p.name}" for p, a in zip(k.parameters, arguments, strict=True)]
        call = (
            f"cudaLaunchCooperativeKernel((void*){name}, {dim3(k.grid)}, {dim3(k.block)}, arguments, {k.dynamic_bytes})"
        )
        return ["{", *indent([*lines, f"void* arguments[] = {{{', '.join(places)}}};", f"CHECK({call});"]), "}"]
    dynamic = f", {k.dynamic_bytes}" if k.dynamic_bytes or stream else ""
    return [f"{name}<<<{dim3(k.grid)}, {dim3(k.block)}{dynamic}{stream}>>>({', '.join(arguments)});"]


def step_lines(s, buffers: dict) -> list[str]:
    """Return the host code of a step."""
    match s:
        case Launch():
            return launch(s, buffers)
        case CopyRows():
            unit = bits(buffers[s.target].type) // 8
            sizes = f"{s.target}.data, {s.target_pitch * unit}, {s.source}.data, {s.source_pitch * unit}"
            call = f"{sizes}, {s.width * unit}, {s.height}, cudaMemcpyDeviceToDevice"
            if s.stream is None:
                return [f"CHECK(cudaMemcpy2D({call}));"]
            return [f"CHECK(cudaMemcpy2DAsync({call}, streams[{s.stream}]));"]
        case Fill():
            call = f"{s.buffer}.data, {s.byte}, {s.bytes}"
            if s.stream is None:
                return [f"CHECK(cudaMemset({call}));"]
            return [f"CHECK(cudaMemsetAsync({call}, streams[{s.stream}]));"]
        case Wait(kind="device"):
            return ["CHECK(cudaDeviceSynchronize());"]
        case Wait(kind="stream"):
            return [f"CHECK(cudaStreamSynchronize(streams[{s.stream}]));"]
        case Wait(kind="event"):
            return [f"follow(streams[{s.other}], streams[{s.stream}]);"]
        case HostChange():
            return [f"for (size_t i = 0; i < {s.buffer}.size; ++i) {s.buffer}.data[i] += {s.amount};"]
    raise TypeError(s)


def constant_table(array: Array, values: list[int], copied: bool) -> str:
    text_of_values = ", ".join(constant(array.type, value) for value in values)
    initial = "" if copied else f" = {{{text_of_values}}}"
    return f"__constant__ {SPELLING[array.type]} {array.name}[{array.size}]{initial};"


def copy_table(array: Array, values: list[int]) -> list[str]:
    text_of_values = ", ".join(constant(array.type, value) for value in values)
    return [
        f"const {SPELLING[array.type]} {array.name}_values[{array.size}] = {{{text_of_values}}};",
        f"CHECK(cudaMemcpyToSymbol({array.name}, {array.name}_values, sizeof({array.name}_values)));",
    ]


def case_lines(case: Case, number: int) -> list[str]:
    """Return a case's tables, kernels and the host function that runs it."""
    lines = [f"// Case {number}, seed {case.seed}" + (f": {case.plant}" if case.plant else "")]
    lines += [constant_table(*table) for table in case.constants]
    for k in case.kernels:
        lines += kernel(k)
    body = [line for array, values, copied in case.constants if copied for line in copy_table(array, values)]
    for b in case.buffers:
        body.append(f"Buffer<{SPELLING[b.type]}> {b.name}({b.size}, {b.seed}ull, Memory::{b.kind});")
    buffers = {b.name: b for b in case.buffers}
    for step in case.steps:
        body += step_lines(step, buffers)
    body += ["CHECK(cudaGetLastError());", "CHECK(cudaDeviceSynchronize());", "Digest digest;"]
    body += [f'digest.add("{b.name}", {b.name});' for b in case.buffers]
    return [*lines, f"static unsigned long long case_{number}() {{", *indent([*body, "return digest.value;"]), "}", ""]


def program(cases: list[Case], first: int = 0) -> str:
    """Return a file of cases, numbered from `first`, that prints a digest for each."""
    lines = ['#include "harness.h"', ""]
    for number, case in enumerate(cases, first):
        lines += case_lines(case, number)
    table = ", ".join(f"{{{n}, case_{n}}}" for n in range(first, first + len(cases)))
    lines += [f"static const Case cases[] = {{{table}}};", ""]
    lines += ["int main(int count, char** arguments) { return run_cases(cases, count, arguments); }"]
    return "\n".join(lines) + "\n"
