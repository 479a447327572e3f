// -*- C++ -*-
#pragma once
// The host's standard library under the name of CUDA's version (cuda::std). Some functions of the C library are defined
// here, because the sanitizer sees only code that g++ compiles.

#include <cstdlib>
#include <cstring>

namespace cuda {
namespace std {

using namespace ::std;

/// Read byte by byte up to the first match, as CUDA's version does.
inline const void* memchr(const void* place, int value, size_t bytes) noexcept {
    for (const auto* byte = static_cast<const unsigned char*>(place); bytes; ++byte, --bytes)
        if (*byte == static_cast<unsigned char>(value)) return byte;
    return nullptr;
}
inline void* memchr(void* place, int value, size_t bytes) noexcept {
    return const_cast<void*>(memchr(static_cast<const void*>(place), value, bytes));
}

/// Allocate zeroed memory; in a kernel, from the device's heap.
inline void* calloc(size_t count, size_t size) noexcept {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
    void* const place = ::malloc(bytes);
    return place ? ::memset(place, 0, bytes) : nullptr;
}
void* aligned_alloc(size_t bytes, size_t alignment) = delete;  // the device's heap aligns to 16 bytes: use malloc

}  // namespace std
}  // namespace cuda
