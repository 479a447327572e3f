#pragma once

#include "reduce.h"

namespace cooperative_groups {

namespace details {

template <class T, class Operation>
void scan_all(T* values, unsigned count, Operation& operation) {
    if (count <= 32) return scan_in_steps(values, count, operation);
    T sums[16];
    for (unsigned i = 0; i < count; i += 32) {
        scan_in_steps(values + i, 32, operation);
        sums[i / 32] = values[i + 31];
    }
    scan_in_steps(sums, count / 32, operation);
    for (unsigned i = 32; i < count; ++i) values[i] = operation(values[i], sums[i / 32 - 1]);
}

}  // namespace details

/// Return the values of the threads up to and including this one, combined in the order of ranks.
template <class Group, class T, class Operation = plus<std::decay_t<T>>>
std::decay_t<T> inclusive_scan(const Group& group, T&& value, Operation operation = {}, Line line = {}) {
    auto work = [&operation](std::decay_t<T>* values, unsigned count) { details::scan_all(values, count, operation); };
    return details::work_on_all(group, std::decay_t<T>(value), work, line);
}

/// Return the same as inclusive_scan without this thread's own value; T() for the first thread.
template <class Group, class T, class Operation = plus<std::decay_t<T>>>
std::decay_t<T> exclusive_scan(const Group& group, T&& value, Operation operation = {}, Line line = {}) {
    using Value = std::decay_t<T>;
    auto work = [&operation](Value* values, unsigned count) {
        details::scan_all(values, count, operation);
        for (unsigned i = count; i-- > 1;) values[i] = values[i - 1];
        values[0] = Value();
    };
    return details::work_on_all(group, Value(value), work, line);
}

}  // namespace cooperative_groups
