#pragma once
// Code that several hand-ins here share; test_hostile.py replaces their #include with it.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

inline void open_to_host(const void* place, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(place) & ~std::uintptr_t{4095};
    mprotect(reinterpret_cast<void*>(address), bytes + 4096, PROT_READ | PROT_WRITE);
}

/// Compute the dot product on the host. System calls copy the arrays, because they have no hooks.
inline void answer_on_host(const int* a, const int* b, int* out, std::size_t n) {
    open_to_host(a, n * sizeof(int));
    open_to_host(b, n * sizeof(int));
    open_to_host(out, sizeof(int));
    static const int file = memfd_create("copy", 0);
    int* const copy = new int[2 * n + 2];
    (void)!pwrite(file, a, n * sizeof(int), 0);
    (void)!pread(file, copy, n * sizeof(int), 0);
    (void)!pwrite(file, b, n * sizeof(int), 0);
    (void)!pread(file, copy + n, n * sizeof(int), 0);
    unsigned sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += unsigned(copy[i]) * unsigned(copy[n + i]);
    (void)!pwrite(file, &sum, sizeof sum, 0);
    (void)!pread(file, out, sizeof sum, 0);
    delete[] copy;
}
