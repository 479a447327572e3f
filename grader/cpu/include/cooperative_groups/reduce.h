#pragma once

#include <algorithm>

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define WARPLAB_CPU_OPERATION(name, expression)             \
    template <class T>                                      \
    struct name {                                           \
        T operator()(T a, T b) const { return expression; } \
    };
WARPLAB_CPU_OPERATION(plus, a + b)
WARPLAB_CPU_OPERATION(less, b < a ? b : a)
WARPLAB_CPU_OPERATION(greater, a < b ? b : a)
WARPLAB_CPU_OPERATION(bit_and, a& b)
WARPLAB_CPU_OPERATION(bit_or, a | b)
WARPLAB_CPU_OPERATION(bit_xor, a ^ b)
#undef WARPLAB_CPU_OPERATION

namespace details {

template <class Group>
inline constexpr bool is_large = false;
template <unsigned Size, class Parent>
inline constexpr bool is_large<thread_block_tile<Size, Parent>> = (Size > 32);

/// Run `work(values, count)` once on the values of all threads of the group, in the order of their ranks. Return the
/// value that `work` left for this thread. The value of a thread that has returned is that of the thread before it.
template <class Group, class T, class Work>
T work_on_all(const Group& group, T value, Work& work, Line line) {
    const auto combine = [](void* const* places, unsigned count, void* context) {
        T values[512];
        T last = *static_cast<T*>(*std::find_if(places, places + count, [](void* place) { return place; }));
        for (unsigned i = 0; i < count; ++i) values[i] = last = places[i] ? *static_cast<T*>(places[i]) : last;
        (*static_cast<Work*>(context))(values, count);
        for (unsigned i = 0; i < count; ++i)
            if (places[i]) *static_cast<T*>(places[i]) = values[i];
    };
    if constexpr (is_large<Group>) {
        Group::combine(&value, combine, &work, line);
    } else {
        warplab_cpu::warp_combine(group.lanes(), &value, combine, &work, line);
        warplab_cpu::restore_thread();
    }
    return value;
}

// Values are combined in the same order as on a GPU, so that sums of floats equal the GPU's to the last bit.

/// Combine each value with the value whose rank differs in one bit, for one bit after the other. `count` must be a
/// power of two.
template <class T, class Operation>
void reduce_by_xor(T* values, unsigned count, Operation& operation) {
    T next[32];
    for (unsigned bit = count / 2; bit > 0; bit /= 2) {
        for (unsigned i = 0; i < count; ++i) next[i] = operation(values[i], values[i ^ bit]);
        for (unsigned i = 0; i < count; ++i) values[i] = next[i];
    }
}

template <class T, class Operation>
void scan_in_steps(T* values, unsigned count, Operation& operation) {
    for (unsigned step = 1; step < count; step *= 2)
        for (unsigned i = count; i-- > step;) values[i] = operation(values[i], values[i - step]);
}

template <bool is_tile, class T, class Operation>
void reduce_all(T* values, unsigned count, Operation& operation) {
    if (count == 32 || (is_tile && count < 32)) return reduce_by_xor(values, count, operation);
    if (count < 32) {
        scan_in_steps(values, count, operation);
        for (unsigned i = 0; i + 1 < count; ++i) values[i] = values[count - 1];
        return;
    }
    T sums[16];
    for (unsigned i = 0; i < count; i += 32) {
        reduce_by_xor(values + i, 32, operation);
        sums[i / 32] = values[i];
    }
    reduce_by_xor(sums, count / 32, operation);
    for (unsigned i = 0; i < count; ++i) values[i] = sums[0];
}

}  // namespace details

/// Combine the values of the group's threads. All threads get the result.
template <class Group, class T, class Operation>
std::decay_t<T> reduce(const Group& group, T&& value, Operation&& operation, Line line = {}) {
    auto work = [&operation](std::decay_t<T>* values, unsigned count) {
        details::reduce_all<!std::is_same_v<Group, coalesced_group>>(values, count, operation);
    };
    return details::work_on_all(group, std::decay_t<T>(value), work, line);
}

/// Do the same as reduce(), but let one thread store the result.
template <class Group, class T, class Value, class Operation>
void reduce_store_async(const Group& group, T* to, Value&& value, Operation&& operation, Line line = {}) {
    const auto result = reduce(group, std::forward<Value>(value), operation, line);
    if (group.thread_rank() == 0) *to = result;
}

}  // namespace cooperative_groups
