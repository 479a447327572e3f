#pragma once
// Asynchronous copies. On a GPU, they run while the thread continues; here, they are made immediately.

#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zero_filled = 0) {
    if (bytes == 4 || bytes == 8 || bytes == 16) warplab_cpu::check_copy_alignment(to, from, bytes);
    memcpy(to, from, bytes - zero_filled);
    memset(static_cast<char*>(to) + (bytes - zero_filled), 0, zero_filled);
    warplab_cpu::note_async_copy(to, from, bytes - zero_filled);
    warplab_cpu::note_async_copy(static_cast<char*>(to) + (bytes - zero_filled), nullptr, zero_filled);
}
inline void __pipeline_commit() { warplab_cpu::note_async_commit(); }
inline void __pipeline_wait_prior(size_t prior) { warplab_cpu::note_async_wait(unsigned(prior)); }
