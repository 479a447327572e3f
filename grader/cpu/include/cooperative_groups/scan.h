#pragma once

#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

/// What the threads up to and including this one give, combined in the order of ranks.
template <class Group, class T, class Operation = plus<T>>
T inclusive_scan(const Group& group, T value, Operation operation = {}, warplab_cpu::Line line = {__builtin_LINE()}) {
    T result = group.shfl(value, 0, line);
    for (unsigned rank = 1; rank < group.size(); ++rank) {
        const T next = group.shfl(value, rank, line);
        if (rank <= group.thread_rank()) result = operation(result, next);
    }
    return result;
}

/// As inclusive_scan, without this thread's own value; T() for the first.
template <class Group, class T, class Operation = plus<T>>
T exclusive_scan(const Group& group, T value, Operation operation = {}, warplab_cpu::Line line = {__builtin_LINE()}) {
    const T up_to_here = inclusive_scan(group, value, operation, line);
    const T before = group.shfl_up(up_to_here, 1, line);
    return group.thread_rank() == 0 ? T() : before;
}

}  // namespace cooperative_groups
