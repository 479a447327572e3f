#pragma once
// Asynchronous copies. On a GPU, they run while the threads continue. Here, each thread copies its part immediately,
// and wait() is the barrier that makes the copies visible to the other threads.

#include "../cooperative_groups.h"

namespace cooperative_groups {

namespace details {
/// Check the alignment that a cuda::aligned_size_t promises.
template <class Bytes, size_t alignment = Bytes::align>
void check_alignment(const void* to, const void* from, const Bytes&) {
    warplab_cpu::check_copy_alignment(to, from, alignment);
}
inline void check_alignment(const void*, const void*, size_t) {}
}  // namespace details

/// `bytes` may be a cuda::aligned_size_t.
template <class Group, class T, class Bytes>
void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes) {
    details::check_alignment(to, from, bytes);
    constexpr size_t piece = 16;
    const size_t count = size_t(bytes), step = piece * size_t(group.num_threads());
    for (size_t at = piece * size_t(group.thread_rank()); at < count; at += step) {
        const size_t part = count - at < piece ? count - at : piece;
        char* const to_part = reinterpret_cast<char*>(to) + at;
        const char* const from_part = reinterpret_cast<const char*>(from) + at;
        memcpy(to_part, from_part, part);
        warplab_cpu::note_async_copy(to_part, from_part, part);
    }
    warplab_cpu::note_async_commit();
}

/// Copy as many elements as the smaller layout has; a layout is a number of elements.
template <class Group, class T, class To, class From>
void memcpy_async(const Group& group, T* to, const To& to_layout, const T* from, const From& from_layout) {
    details::check_alignment(to, from, to_layout);
    details::check_alignment(to, from, from_layout);
    const size_t count = size_t(to_layout) < size_t(from_layout) ? size_t(to_layout) : size_t(from_layout);
    memcpy_async(group, to, from, count * sizeof(T));
}

template <class Group>
void wait(const Group& group, Line line = {}) {
    warplab_cpu::note_async_wait();
    group.sync(line);
}
/// Wait until all copies except the last `Stages` ones are done.
template <unsigned Stages, class Group>
void wait_prior(const Group& group, Line line = {}) {
    warplab_cpu::note_async_wait(Stages);
    group.sync(line);
}

}  // namespace cooperative_groups
