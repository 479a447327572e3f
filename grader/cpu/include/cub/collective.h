#pragma once
// Common parts of CUB's collectives for blocks and warps.

#include <type_traits>

#include "../cuda_runtime.h"

namespace cub {

namespace warplab_details {

using warplab_cpu::Line;

struct Plus {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return a + b;
    }
};

/// The lanes of this thread's group of `size` lanes.
template <int size>
unsigned lanes_of_group() {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z, lane = warplab_cpu::lane();
    const unsigned left = threads - warplab_cpu::warp() * 32;
    const unsigned existing = left >= 32 ? 0xffffffffu : (1u << left) - 1;
    return unsigned(((uint64_t{1} << size) - 1) << lane / size * size) & existing;
}

/// Runs `work(values, count)` once on the values of the group's lanes, in their order; gives each lane its own.
template <int size, class T, class Work>
T work_on_lanes(T value, Work work, Line line) {
    warplab_cpu::warp_combine(
        lanes_of_group<size>(), &value,
        [](void* const* places, unsigned count, void* context) {
            T values[32];
            for (unsigned i = 0; i < count; ++i)
                if (places[i]) values[i] = *static_cast<T*>(places[i]);
            (*static_cast<Work*>(context))(values, int(count));
            for (unsigned i = 0; i < count; ++i)
                if (places[i]) *static_cast<T*>(places[i]) = values[i];
        },
        &work, line);
    warplab_cpu::restore_thread();
    return value;
}

/// The first of `count` values gets all of them, combined in a GPU's order.
template <int size, class T, class Operation>
T reduce_lanes(T value, Operation operation, int count, Line line) {
    return work_on_lanes<size>(
        value,
        [&operation, count](T* values, int there) {
            const int end = count < there ? count : there;
            for (int step = 1; step < end; step *= 2)
                for (int i = 0; i + step < end; ++i) values[i] = operation(values[i], values[i + step]);
        },
        line);
}

template <int size, class T, class Operation>
T scan_lanes(T value, Operation operation, Line line) {
    return work_on_lanes<size>(
        value,
        [&operation](T* values, int count) {
            for (int step = 1; step < count; step *= 2)
                for (int i = count; i-- > step;) values[i] = operation(values[i - step], values[i]);
        },
        line);
}

template <class T, int items, class Operation>
T reduce_items(const T (&input)[items], Operation operation) {
    T result = input[0];
    for (int i = 1; i < items; ++i) result = operation(result, input[i]);
    return result;
}

}  // namespace warplab_details

struct NullType {};

// Until CUDA 12; since 13, cuda::std::plus, cuda::maximum and cuda::minimum.
using Sum = warplab_details::Plus;
struct Max {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return a < b ? b : a;
    }
};
struct Min {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return b < a ? b : a;
    }
};

}  // namespace cub
