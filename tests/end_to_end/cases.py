"""Bad and unusual hand-ins for vector_add, stage 02, with the cause and the words that the judge must report."""

from __future__ import annotations

from dataclasses import dataclass

CONTRACT = "void vector_add(const float* a, const float* b, float* out, std::size_t n, void*)"


def program(
    kernel: str = "if (i < n) out[i] = a[i] + b[i];",
    host: str = "",
    launch: str = "add_kernel<<<unsigned((n + 255) / 256), 256>>>(a, b, out, n);",
    before: str = "",
) -> str:
    """Return a correct solution with some parts replaced. A part should be one line, so that line numbers stay the
    same."""
    return f"""#include "labs/vector_add/lab.h"
{before}
__global__ void add_kernel(const float* a, const float* b, float* out, std::size_t n) {{
    const std::size_t i = std::size_t{{blockIdx.x}} * blockDim.x + threadIdx.x;
    {kernel}
}}
{CONTRACT} {{
    if (n == 0) return;
    {host}
    {launch}
}}
"""


@dataclass
class Case:
    """A hand-in. The message, the hint or the compiler's log must contain each of `words`. If `cause` is empty, the
    hand-in may pass or fail, but the judge must not end with an error."""

    name: str
    text: str | bytes
    cause: str
    words: tuple[str, ...] = ()
    dataset: str = "readable"

    def __str__(self) -> str:
        return self.name


FILES = [
    Case("empty", "", "empty_file", ("is empty", "saved?", "starter")),
    Case("blank", " \n\t\r\n\n", "empty_file", ("is empty",)),
    Case("only_a_comment", "// later\n", "missing_function", ("vector_add", "The grader calls: void vector_add(")),
    Case("windows_line_endings", program().replace("\n", "\r\n"), ""),
    Case(
        "byte_order_mark",
        b"\xef\xbb\xbf" + program().encode(),
        "",
    ),
    Case("no_last_newline", program().rstrip(), ""),
    Case("latin_1_comment", program(before="// gr\xf6\xdfe").encode("latin-1"), ""),
    Case("latin_1_name", program(host="int gr\xf6sse = 1;").encode("latin-1"), "compile_error", ("Line 9", "UTF-8")),
    Case(
        "typographic_quotes",
        program(host="const char* s = \u201chello\u201d;"),
        "compile_error",
        ("Line 9", "typographic quote"),
    ),
    Case("utf_16", program().encode("utf-16"), "compile_error", ("UTF-16", "Save it as UTF-8")),
    Case(
        "executable_file", b"\x7fELF\x02\x01\x01\0\0\0" + bytes(500), "compile_error", ("not a text file", ".cu source")
    ),
    Case("five_megabytes", "// " + "x" * 5_000_000 + "\n" + program(), "compile_error", ("5000", "at most 1048576")),
]

COMPILING = [
    Case(
        "no_function",
        program().replace("void vector_add(", "void add_vectors("),
        "missing_function",
        ("does not define vector_add", "The grader calls: void vector_add("),
    ),
    Case(
        "other_signature",
        program().replace("std::size_t n, void*)", "int n)"),
        "wrong_signature",
        ("line 7", "It must be exactly", "std::size_t n, void* scratch"),
    ),
    Case(
        "other_return_type",
        program().replace("void vector_add(", "int vector_add("),
        "wrong_signature",
        ("line 7", "int vector_add(", "It must be exactly"),
    ),
    Case(
        "thousands_of_errors",
        program(host="\n".join(f"int number_{k} = nowhere_{k};" for k in range(20_000))),
        "compile_error",
        ("Line 9", "more than 100 errors"),
    ),
    Case("own_main", program(before="int main() { return 0; }"), "own_main", ("main", "line 2", "Remove main")),
    Case("syntax_error", program(kernel="if (i < n) out[i] = a[i] + b[i]"), "compile_error", ("Line ", ";")),
    Case(
        "unknown_name", program(kernel="if (i < m) out[i] = a[i] + b[i];"), "compile_error", ("Line 5", "m", "spelled")
    ),
    Case("missing_closing_brace", program().rstrip()[:-1], "compile_error", ("Line ", "}", "never closed")),
    Case(
        "defines_a_name_of_cuda",
        program(before='void cudaFreeAll(); extern "C" cudaError_t cudaFree(void*) { return cudaSuccess; }'),
        "reserved_symbol",
        ("cudaFree", "line 2", "another name"),
    ),
    Case(
        "calls_an_undefined_function",
        program(before="void helper();", host="helper();"),
        "compile_error",
        ("helper() is called in line 9", "body missing"),
    ),
    Case(
        "endless_template",
        program(before="template <int N> struct T : T<N + 1> {}; T<0> t;"),
        "compile_error",
        ("Line 2", "template instantiation depth"),
    ),
    Case(
        "cub",
        program(before="#include <cub/device/device_reduce.cuh>"),
        "refused_feature",
        ("Line 2", "CUB", "BACKEND=cuda"),
    ),
    Case(
        "texture", program(before="texture<float, 1> image;"), "refused_feature", ("Line 2", "texture", "BACKEND=cuda")
    ),
    Case(
        "inline_ptx",
        program(kernel='asm("mov.u32 %0, %nsmid;" : "=r"(n));'),
        "refused_feature",
        ("Line 5", "PTX", "BACKEND=cuda"),
    ),
    Case(
        "grid_sync",
        program(before="#include <cooperative_groups.h>", kernel="cooperative_groups::this_grid().sync(); out[i] = 0;"),
        "crash",
        ("line 5", "grid.sync()", "cudaLaunchCooperativeKernel"),
    ),
    Case(
        "includes_the_answer",
        program(before='#include "../../labs/vector_add/oracle.cpp"'),
        "compile_error",
        ("Line 2", "outside the hand-in"),
    ),
    Case(
        "includes_a_missing_file",
        program(before='#include "my_helpers.h"'),
        "compile_error",
        ("Line 2", "my_helpers.h", "one file"),
    ),
]

BARRIER = "if (threadIdx.x < 100) __syncthreads(); out[i] = 0;"
RUNNING = [
    Case(
        "endless_loop_in_host_code",
        program(host="for (volatile int k = 0; k < 10;) {}"),
        "timeout",
        ("No answer after", "before any kernel", "loop end"),
    ),
    Case(
        "endless_loop_in_a_kernel",
        program(kernel="for (volatile int k = 0; k < 10;) {}"),
        "timeout",
        ("No answer after", "in kernel add_kernel (launched at line 10)", "loop end"),
    ),
    Case(
        "prints_100_megabytes",
        program(host='for (int k = 0; k < 100; ++k) printf("%1000000d\\n", k);', before="#include <cstdio>"),
        "too_much_output",
        ("more than 32 MB", "before any kernel", "if (i == 0)"),
    ),
    Case(
        "kernel_prints_100_megabytes",
        program(
            kernel='if (i < n) out[i] = a[i] + b[i]; if (i < 100000) printf("%1000d\\n", (int)i);',
            before="#include <cstdio>",
        ),
        "too_much_output",
        ("more than 32 MB", "in kernel add_kernel (launched at line 10)", "if (i == 0)"),
    ),
    Case(
        "prints_20_megabytes",
        program(host='for (int k = 0; k < 20; ++k) printf("%1000000d\\n", k);', before="#include <cstdio>"),
        "",
    ),
    Case(
        "prints_and_is_wrong",
        program(host='printf("%1000000d\\n", 1);', kernel="if (i < n) out[i] = a[i];", before="#include <cstdio>"),
        "wrong_operation",
    ),
    Case(
        "exit",
        program(host="exit(0);", before="#include <cstdlib>"),
        "exited",
        ("called exit() before any", "must return"),
    ),
    Case("quick_exit", program(host="_exit(0);", before="#include <unistd.h>"), "exited", ("exit status 0", "return")),
    Case(
        "host_segfault",
        program(host="*(volatile int*)8 = 1;"),
        "crash",
        ("Segmentation fault", "host_segfault.cu:9", "null pointer"),
    ),
    Case(
        "host_uses_device_pointer",
        program(launch="for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];"),
        "crash",
        ("Segmentation fault", ":10", "Host code must not use a device pointer"),
    ),
    Case(
        "kernel_segfault",
        program(kernel="if (i == 300) out = nullptr; out[i] = a[i] + b[i];"),
        "out_of_bounds",
        ("Line 5: Kernel add_kernel writes through a null pointer", "block (1,0,0)", "thread (44,0,0)"),
    ),
    Case(
        "segfault_in_a_kernel_with_barriers",
        program(
            kernel="__shared__ float s[256]; s[threadIdx.x] = a[i]; __syncthreads(); if (i == 300) out = nullptr; "
            "out[i] = s[threadIdx.x] + b[i];"
        ),
        "out_of_bounds",
        ("Line 5: Kernel add_kernel writes through a null pointer", "block (1,0,0)", "thread (44,0,0)"),
    ),
    Case(
        "kernel_divides_by_zero",
        program(kernel="out[i] = 7 / (int)(n - 100000);"),
        "crash",
        ("divided by zero", ":5", "kernel add_kernel", "divisor"),
    ),
    Case("barrier_not_reached_by_all", program(kernel=BARRIER), "", ()),
    Case(
        "different_barriers",
        program(kernel="if (threadIdx.x % 2) __syncthreads(); else __syncwarp(); if (i < n) out[i] = a[i] + b[i];"),
        "deadlock",
        ("kernel add_kernel (launched at line 10)", "256 of 256 threads wait at line 5", "same __syncthreads()"),
    ),
    Case(
        "barrier_while_others_wait_for_a_flag",
        program(
            kernel="__shared__ int go; if (threadIdx.x == 0) go = 0; __syncthreads(); "
            "if (threadIdx.x < 128) { __syncthreads(); atomicExch(&go, 1); } "
            "else while (atomicAdd(&go, 0) == 0) {} if (i < n) out[i] = a[i] + b[i];"
        ),
        "deadlock",
        (
            "in kernel add_kernel (launched at line 10)",
            "keep retrying the same operation",
            "128 wait at line 5",
            "flag",
        ),
    ),
    Case(
        "endless_barriers_in_one_branch",
        program(kernel="__shared__ int s; if (threadIdx.x % 2) { for (;;) { __syncthreads(); s = 1; } } out[i] = s;"),
        "timeout",
        ("kernel add_kernel (launched at line 10)",),
    ),
    Case(
        "host_stack_overflow",
        program(
            before="int deep(volatile int k) { volatile char c[4096]; c[0] = 1; "
            "return k < 0 ? 0 : deep(k + 1) + c[0]; }",
            host="if (deep(1)) return;",
        ),
        "crash",
        ("stack overflowed", "recursion"),
    ),
    Case(
        "kernel_stack_overflow",
        program(
            before="__device__ int deep(volatile int k) { volatile char c[4096]; "
            "c[0] = 1; return k < 0 ? 0 : deep(k + 1) + c[0]; }",
            kernel="out[i] = deep(1);",
        ),
        "crash",
        ("stack overflowed", "kernel add_kernel", "recursion"),
    ),
    Case(
        "huge_device_allocation",
        program(host="void* p; CUDA_CHECK(cudaMalloc(&p, 1ull << 50));"),
        "cuda_error",
        (":9", "cudaMalloc", "out of memory", "computed with an overflow"),
    ),
    Case(
        "allocates_forever",
        program(host="for (;;) (void)*(volatile char*)new char[1 << 20];"),
        "out_of_memory",
        ("exceeded its memory limit", "in a loop and never freed"),
    ),
    Case(
        "fills_memory_forever",
        program(host="for (;;) memset(new char[1 << 20], 1, 1 << 20);"),
        "out_of_memory",
        ("memory", "before any kernel", "in a loop and never freed"),
    ),
    Case(
        "allocates_on_the_device_forever",
        program(host="void* p; for (;;) CUDA_CHECK(cudaMalloc(&p, 256 << 20));"),
        "out_of_memory",
        ("memory", "in a loop and never freed"),
    ),
    Case(
        "huge_host_allocation",
        program(host="std::vector<char> v(1ull << 40, 1);", before="#include <vector>"),
        "out_of_memory",
        ("memory",),
    ),
    Case("abort", program(host="abort();", before="#include <cstdlib>"), "crash", ("abort() was called",)),
    Case(
        "assert_in_host_code",
        program(host="assert(n == 1);", before="#include <cassert>"),
        "crash",
        ("aborted before any kernel", "assertion `n == 1' failed at assert_in_host_code.cu:9"),
    ),
    Case(
        "assert_in_a_kernel",
        program(kernel="assert(i < n);", before="#include <cassert>"),
        "crash",
        ("aborted in kernel add_kernel", "assertion `i < n' failed at assert_in_a_kernel.cu:5", "thread (160,0,0)"),
    ),
    Case(
        "exception",
        program(host='throw std::runtime_error("oh no");', before="#include <stdexcept>"),
        "crash",
        ("std::runtime_error (oh no)", "not caught", "before any kernel"),
    ),
    Case("leak", program(host="void* p; CUDA_CHECK(cudaMalloc(&p, 1000));"), "leak", ("1,000", "cudaFree")),
    Case(
        "wrong_copy_kind",
        program(host="float h; CUDA_CHECK(cudaMemcpy(&h, a, 4, cudaMemcpyHostToDevice));"),
        "cuda_error",
        (":9", "cudaMemcpy"),
    ),
    Case(
        "copies_to_the_host",
        program(host="float h[1000]; CUDA_CHECK(cudaMemcpy(h, a, 4000, cudaMemcpyDeviceToHost));"),
        "host_work",
        ("copied to the host",),
    ),
    Case(
        "too_many_threads",
        program(launch="add_kernel<<<98, 1025>>>(a, b, out, n);"),
        "launch_failed",
        (
            "invalid configuration",
            "line 10: add_kernel<<<(98, 1, 1), (1025, 1, 1), 0>>> (1025 threads in a block",
            "swapped",
        ),
    ),
    Case(
        "empty_grid",
        program(launch="add_kernel<<<unsigned(n / 200000), 256>>>(a, b, out, n);"),
        "launch_failed",
        ("invalid configuration", "line 10: add_kernel<<<(0, 1, 1)", "(0 blocks)", "Round the number of blocks up"),
    ),
    Case(
        "too_many_blocks_in_y",
        program(launch="add_kernel<<<dim3(1, 65536), 256>>>(a, b, out, n);"),
        "launch_failed",
        ("65536 blocks in y; at most 65535", "longest direction to x"),
    ),
    Case(
        "too_much_shared_memory",
        program(launch="add_kernel<<<98, 256, 61440>>>(a, b, out, n);"),
        "launch_failed",
        ("61440 bytes of shared memory; at most 49152", "cudaFuncSetAttribute(kernel"),
    ),
    Case(
        "more_shared_memory_than_the_device_has",
        program(launch="add_kernel<<<98, 256, 300000>>>(a, b, out, n);"),
        "launch_failed",
        ("300000 bytes of shared memory; at most", "smaller tile"),
    ),
    Case("nothing_launched", program(launch=""), "not_launched", ("No kernel was launched", "<<<")),
    Case(
        "host_loop_on_a_large_dataset",
        program(launch="for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];"),
        "not_launched",
        ("output is right", "launched no kernel", "<<<blocks, threads>>>"),
        dataset="timed_16m",
    ),
    Case("nothing_launched_for_no_elements", program(launch=""), "", dataset="empty"),
    Case(
        "writes_to_the_graders_channel",
        program(host='write(5, "passed", 6);', before="#include <unistd.h>"),
        "protocol",
        ("grader's own channel", "descriptors 3, 4 and 5"),
    ),
    Case(
        "closes_the_graders_channel",
        program(host="close(3);", before="#include <unistd.h>"),
        "protocol",
        ("closed the grader's own channel", "descriptors 3, 4 and 5"),
    ),
    Case(
        "replaces_the_program",
        program(host='execl("/bin/true", "true", (char*)0);', before="#include <unistd.h>"),
        "exited",
        ("exit status 0",),
    ),
    Case("forks_a_copy", program(host="if (fork() == 0) for (;;) pause();", before="#include <unistd.h>"), ""),
]
