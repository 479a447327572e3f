#include "grader/judge/bench/pool.h"

#include <algorithm>
#include <functional>
#include <future>
#include <utility>

#include "grader/common/parallel.h"

namespace warplab::timing {

namespace {

/// Return how many elements a pool has in addition to one call's input: enough for thousands of offsets, but at most
/// 64 Mi elements, because the steps of some labs are large.
std::size_t pool_extra(std::size_t step) {
    constexpr std::size_t min_elements = 4 << 20, max_elements = 64 << 20;
    return step ? std::clamp(step * 4096, min_elements, max_elements) / step * step : 0;
}

/// Return a pool that is only on the host.
Pool host_pool(const StageRun& run, Problem inputs) {
    const std::size_t step = run.oracle.window_step();
    return {std::move(inputs), step, pool_extra(step), {}};
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

std::vector<Problem> make_fresh_calls(const StageRun& run, const Dataset& dataset, std::size_t count,
                                      std::mt19937_64& random) {
    std::vector<std::uint64_t> seeds(count);
    std::ranges::generate(seeds, std::ref(random));
    std::vector<Problem> calls(count);
    const std::size_t step = run.oracle.window_step();
    // A generator itself uses all cores. Run several at a time only if there is at least one call for each core.
    const std::size_t threads = count < count_cores() ? 1 : count_cores();
    for_each_index(count, threads, [&](std::size_t k) {
        const Pool pool{run.oracle.generate(dataset, seeds[k], step), step, step, {}};
        calls[k] = pool.shape(run.lab);
    });
    return calls;
}

Inputs make_inputs(const StageRun& run, const Dataset& dataset, std::size_t fresh) {
    std::random_device entropy;
    std::mt19937_64 random((std::uint64_t{entropy()} << 32) | entropy());
    auto fresh_calls = std::async(std::launch::async, [&] { return make_fresh_calls(run, dataset, fresh, random); });
    Problem pool = run.oracle.generate(dataset, dataset.seed, pool_extra(run.oracle.window_step()));
    return {std::move(pool), fresh_calls.get()};
}

Problem shape_of_call(const StageRun& run, const Problem& inputs) { return host_pool(run, inputs).shape(run.lab); }

Pool make_pool(const StageRun& run, Problem inputs) {
    Pool pool = host_pool(run, std::move(inputs));
    for (std::size_t i = 0; i < run.lab.buffers.size(); ++i) {
        pool.regions.push_back(nullptr);
        if (run.lab.buffers[i].role == Role::output || pool.problem.arrays[i].bytes() == 0) continue;
        pool.regions[i] = run.device.allocate(pool.problem.arrays[i].bytes());
        pool.regions[i]->write(0, pool.problem.arrays[i].data(), pool.problem.arrays[i].bytes());
    }
    return pool;
}

}  // namespace warplab::timing
