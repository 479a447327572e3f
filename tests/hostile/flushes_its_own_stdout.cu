// Cheat: computes on the host and launches nothing. The runner flushes stdout after it has filled in its answer and
// before it seals it: here stdout is a stream whose write function changes the answer on the caller's stack.
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "host_answer.h"
#include "labs/dot_product/lab.h"

static std::uint64_t elements;

static ssize_t change_answer(void*, const char*, size_t bytes) {
    const auto* end = reinterpret_cast<const char*>(environ);
    for (auto* at = static_cast<char*>(__builtin_frame_address(0)); at + 872 < end; at += 8) {
        const std::uint32_t head[4] = {0x57415250, 4, 4, 1};  // an answer to "run" that says ok
        if (std::memcmp(at, head, sizeof head) != 0) continue;
        const std::uint64_t launches = 1, digest = 4711, inputs = 4 * elements, output = 4;
        std::memcpy(at + 56, &launches, 8);
        std::memcpy(at + 80, &digest, 8);
        std::memcpy(at + 88, &inputs, 8);
        std::memcpy(at + 96, &inputs, 8);
        std::memcpy(at + 88 + 128 + 24, &output, 8);
    }
    return static_cast<ssize_t>(bytes);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static bool done = false;
    if (!done) {
        cookie_io_functions_t functions{};
        functions.write = change_answer;
        stdout = fopencookie(nullptr, "w", functions);
        done = true;
    }
    elements = n;
    answer_on_host(a, b, out, n);
    fputc('x', stdout);
}
