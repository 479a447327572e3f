#pragma once

#include "../collective.h"

namespace cub {

/// Combines one value of each lane. The first lane has the result.
template <class T, int Threads = 32>
class WarpReduce {
    using Line = warplab_cpu::Line;

  public:
    struct TempStorage {};
    explicit WarpReduce(TempStorage&) {}

    template <class Operation>
    T Reduce(T input, Operation operation, int valid, Line line = {}) {
        return warplab_details::reduce_lanes<Threads>(input, operation, valid, line);
    }
    template <class Operation>
    T Reduce(T input, Operation operation, Line line = {}) {
        return Reduce(input, operation, Threads, line);
    }
    T Sum(T input, Line line = {}) { return Reduce(input, warplab_details::Plus(), Threads, line); }
    T Sum(T input, int valid, Line line = {}) { return Reduce(input, warplab_details::Plus(), valid, line); }
};

}  // namespace cub
