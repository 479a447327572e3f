#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};

/// The group's values combined in the order of ranks; every thread gets the result.
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation operation, warplab_cpu::Line line = {__builtin_LINE()}) {
    T result = group.shfl(value, 0, line);
    for (unsigned rank = 1; rank < group.size(); ++rank) result = operation(result, group.shfl(value, rank, line));
    return result;
}

}  // namespace cooperative_groups
