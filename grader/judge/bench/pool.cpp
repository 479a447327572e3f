#include "grader/judge/bench/pool.h"

#include <algorithm>
#include <utility>

namespace warplab::timing {

namespace {

/// Return how many elements a pool has in addition to one call's input: enough for thousands of offsets or, if steps
/// are large, a quarter of a gigabyte.
std::size_t pool_extra(std::size_t step) {
    constexpr std::size_t min_elements = 4 << 20, max_elements = 64 << 20;
    return step ? std::clamp(step * 4096, min_elements, max_elements) / step * step : 0;
}

}  // namespace

Problem Pool::call_at(const std::vector<std::size_t>& window, const Lab& lab) const {
    Problem call = problem;
    for (std::size_t i = 0; i < lab.buffers.size(); ++i) {
        if (lab.buffers[i].role == Role::output)
            call.arrays[i] = Array(problem.arrays[i].type(), problem.arrays[i].count());
        else
            call.arrays[i] = problem.arrays[i].part(window[i], problem.arrays[i].count() - extra);
        if (lab.buffers[i].role == Role::inout) call.arrays[i] = call.arrays[i].clone();
    }
    return call;
}

Problem make_inputs(const StageRun& run, const Dataset& dataset) {
    return run.oracle.generate(dataset, dataset.seed, pool_extra(run.oracle.window_step()));
}

Pool make_pool(const StageRun& run, Problem inputs) {
    Pool pool;
    pool.step = run.oracle.window_step();
    pool.extra = pool_extra(pool.step);
    pool.problem = std::move(inputs);
    for (std::size_t i = 0; i < run.lab.buffers.size(); ++i) {
        pool.regions.push_back(nullptr);
        if (run.lab.buffers[i].role == Role::output || pool.problem.arrays[i].bytes() == 0) continue;
        pool.regions[i] = run.device.allocate(pool.problem.arrays[i].bytes());
        pool.regions[i]->write(0, pool.problem.arrays[i].data(), pool.problem.arrays[i].bytes());
    }
    return pool;
}

}  // namespace warplab::timing
