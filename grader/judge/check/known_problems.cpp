#include "grader/judge/check/known_problems.h"

#include <cstddef>

namespace warplab {
namespace {

constexpr std::size_t max_problem_bytes = 1ull << 30;

bool is_read(Role role) { return role != Role::output; }
bool is_written(Role role) { return role != Role::input; }

/// Return the problem with separate outputs.
Problem with_own_outputs(const Lab& lab, Problem problem) {
    for (std::size_t i = 0; i < problem.arrays.size(); ++i)
        if (lab.buffers[i].role == Role::output)
            problem.arrays[i] = Array(problem.arrays[i].type(), problem.arrays[i].count());
        else if (lab.buffers[i].role == Role::inout)
            problem.arrays[i] = problem.arrays[i].clone();
    return problem;
}

std::vector<Array> without_inputs(const Lab& lab, std::vector<Array> arrays) {
    for (std::size_t i = 0; i < arrays.size(); ++i)
        if (!is_written(lab.buffers[i].role)) arrays[i] = Array();
    return arrays;
}

/// Return the bytes of the arrays that `selects(role)` is true for.
std::size_t bytes_of(const Lab& lab, const Problem& problem, bool (*selects)(Role)) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < problem.arrays.size(); ++i)
        if (selects(lab.buffers[i].role)) bytes += problem.arrays[i].bytes();
    return bytes;
}

}  // namespace

bool KnownProblems::reserve(std::size_t bytes) {
    if (kept_bytes_ + bytes > max_problem_bytes) return false;
    kept_bytes_ += bytes;
    return true;
}

Problem KnownProblems::generate(const Oracle& oracle, const Lab& lab, const Dataset& dataset, std::uint64_t seed) {
    const Key key{lab.name + "/" + dataset.name, seed};
    {
        const std::lock_guard lock(mutex_);
        if (const auto iterator = generated_.find(key); iterator != generated_.end())
            return with_own_outputs(lab, iterator->second);
    }
    Problem problem = oracle.generate(dataset, seed, 0);
    const std::lock_guard lock(mutex_);
    if (!generated_.contains(key) && reserve(bytes_of(lab, problem, is_read)))
        generated_.emplace(key, with_own_outputs(lab, problem));
    return problem;
}

void KnownProblems::solve(const Oracle& oracle, const Lab& lab, const Dataset& dataset, std::uint64_t seed,
                          Problem& problem) {
    const Key key{lab.name + "/" + dataset.name, seed};
    {
        const std::lock_guard lock(mutex_);
        if (const auto iterator = outputs_.find(key); iterator != outputs_.end()) {
            for (std::size_t i = 0; i < problem.arrays.size(); ++i)
                if (is_written(lab.buffers[i].role)) problem.arrays[i] = iterator->second[i];
            return;
        }
    }
    oracle.reference(problem, Execution::openmp);
    const std::lock_guard lock(mutex_);
    if (!outputs_.contains(key) && reserve(bytes_of(lab, problem, is_written)))
        outputs_.emplace(key, without_inputs(lab, problem.arrays));
}

}  // namespace warplab
