#include "grader/judge/check/known_outputs.h"

#include <chrono>

namespace warplab {
namespace {

constexpr double worth_keeping_s = 0.1;
constexpr std::size_t most_kept_bytes = 1ull << 30;

/// Return the lab's outputs, without its inputs.
std::vector<Array> outputs_of(const Lab& lab, const std::vector<Array>& arrays) {
    std::vector<Array> outputs = arrays;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        outputs[i] = lab.buffers[i].role == Role::input ? Array() : arrays[i].clone();
    return outputs;
}

std::size_t output_bytes(const Lab& lab, const Problem& problem) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < problem.arrays.size(); ++i)
        if (lab.buffers[i].role != Role::input) bytes += problem.arrays[i].bytes();
    return bytes;
}

}  // namespace

void KnownOutputs::solve(const Oracle& oracle, const Lab& lab, const Dataset& dataset, std::uint64_t seed,
                         Problem& problem) {
    const Key key{lab.name + "/" + dataset.name, seed};
    if (const auto known = kept_.find(key); known != kept_.end()) {
        const std::vector<Array> outputs = outputs_of(lab, known->second);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (lab.buffers[i].role != Role::input) problem.arrays[i] = outputs[i];
        return;
    }
    const auto begin = std::chrono::steady_clock::now();
    oracle.reference(problem, Execution::openmp);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const std::size_t bytes = output_bytes(lab, problem);
    if (took.count() < worth_keeping_s || kept_bytes_ + bytes > most_kept_bytes) return;
    kept_.emplace(key, outputs_of(lab, problem.arrays));
    kept_bytes_ += bytes;
}

}  // namespace warplab
