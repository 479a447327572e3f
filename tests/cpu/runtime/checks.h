#pragma once
// Helpers of the CUDA programs in this folder. A program prints one line per error, and exits with status 1 if there is
// any. With the argument "backward", threads and blocks run from the last to the first.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "grader/cpu/control.h"

inline int wrong_checks = 0;

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (condition) break;                                                        \
        printf("%s:%d: %s\n", strrchr("/" __FILE__, '/') + 1, __LINE__, #condition); \
        ++wrong_checks;                                                              \
    } while (0)

#define CHECK_EQUAL(actual, expected)                                                              \
    do {                                                                                           \
        const auto actual_value = (actual);                                                        \
        const decltype(actual_value) expected_value = (expected);                                  \
        if (actual_value == expected_value) break;                                                 \
        printf("%s:%d: %s is %.9g, not %.9g\n", strrchr("/" __FILE__, '/') + 1, __LINE__, #actual, \
               double(actual_value), double(expected_value));                                      \
        ++wrong_checks;                                                                            \
    } while (0)

inline void use_arguments(int count, char** arguments) {
    if (count > 1 && strcmp(arguments[1], "backward") == 0)
        warplab::cpu::set_thread_order(warplab::cpu::ThreadOrder::backward);
}

/// Return new device memory with a copy of `values`.
template <class T>
T* on_device(const std::vector<T>& values) {
    T* device = nullptr;
    CHECK(cudaMalloc(&device, values.size() * sizeof(T)) == cudaSuccess);
    CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    return device;
}

template <class T>
std::vector<T> from_device(const T* device, size_t count) {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return values;
}

template <class T>
T from_device(const T* device) {
    return from_device(device, 1)[0];
}
