#pragma once

#include "../collective.h"

namespace cub {

/// Prefix sums and similar scans over the lanes of a warp.
template <class T, int Threads = 32>
class WarpScan {
    using Line = warplab_cpu::Line;
    using Plus = warplab_details::Plus;

  public:
    struct TempStorage {};
    explicit WarpScan(TempStorage&) {}

    template <class Operation>
    void InclusiveScan(T input, T& output, Operation operation, Line line = {}) {
        output = warplab_details::scan_lanes<Threads>(input, operation, line);
    }
    template <class Operation>
    void InclusiveScan(T input, T& output, Operation operation, T& aggregate, Line line = {}) {
        InclusiveScan(input, output, operation, line);
        aggregate = last(output, line);
    }
    template <class Operation>
    void ExclusiveScan(T input, T& output, T initial, Operation operation, Line line = {}) {
        const T inclusive = warplab_details::scan_lanes<Threads>(input, operation, line);
        output = warplab_details::work_on_lanes<Threads>(
            inclusive,
            [&operation, initial](T* values, int count) {
                for (int i = count; i-- > 1;) values[i] = operation(initial, values[i - 1]);
                values[0] = initial;
            },
            line);
    }
    void InclusiveSum(T input, T& output, Line line = {}) { InclusiveScan(input, output, Plus(), line); }
    void InclusiveSum(T input, T& output, T& aggregate, Line line = {}) {
        InclusiveScan(input, output, Plus(), aggregate, line);
    }
    void ExclusiveSum(T input, T& output, Line line = {}) { ExclusiveScan(input, output, T{}, Plus(), line); }
    void ExclusiveSum(T input, T& output, T& aggregate, Line line = {}) {
        T inclusive;
        InclusiveSum(input, inclusive, aggregate, line);
        ExclusiveSum(input, output, line);
    }
    T Broadcast(T input, unsigned lane, Line line = {}) {
        return warplab_details::work_on_lanes<Threads>(
            input,
            [lane](T* values, int count) {
                for (int i = 0; i < count; ++i) values[i] = i == int(lane) ? values[i] : values[lane];
            },
            line);
    }

  private:
    T last(T value, Line line) { return Broadcast(value, Threads - 1, line); }
};

}  // namespace cub
