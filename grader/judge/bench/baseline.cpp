#include "grader/judge/bench/baseline.h"

#include <omp.h>

#include <algorithm>
#include <ctime>

#include "grader/judge/bench/clock.h"
#include "grader/judge/bench/kept_numbers.h"
#include "grader/model/statistics.h"

namespace warplab {

using timing::Clock, timing::Pinned, timing::seconds_since;

namespace {

double thread_seconds() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Return the median seconds of at least five runs, or of as many as three seconds allow. Sequential runs are timed by
/// this thread's processor time, because points depend on them and other programs may use the same processor.
double time_on_cpu(const Oracle& oracle, Problem& problem, Execution how) {
    const auto now_s = [how, start = Clock::now()] {
        return how == Execution::sequential ? thread_seconds() : seconds_since(start);
    };
    std::vector<double> times;
    const auto begin = Clock::now();
    oracle.reference(problem, how);  // touches memory, starts threads
    while (times.size() < 5 || (seconds_since(begin) < 1 && times.size() < 100)) {
        const double start_s = now_s();
        oracle.reference(problem, how);
        times.push_back(now_s() - start_s);
        if (seconds_since(begin) > 3 && times.size() >= 1) break;
    }
    return median(times);
}

}  // namespace

Baseline measure_baseline(const Oracle& oracle, const Lab& lab, const Dataset& dataset, const Problem* known,
                          const std::filesystem::path& cache, const std::string& key) {
    const auto measure = [&]() -> std::vector<double> {
        Problem problem = known ? *known : oracle.generate(dataset, dataset.seed, 0);
        oracle.shorten(problem);
        const double iterations = oracle.cost(problem).iterations;
        const double openmp_s = time_on_cpu(oracle, problem, Execution::openmp) / iterations;
        const Pinned pinned(sched_getcpu());
        return {time_on_cpu(oracle, problem, Execution::sequential) / iterations, openmp_s,
                static_cast<double>(omp_get_max_threads())};
    };
    const std::vector<double> times = keep_numbers(cache, lab.name + "/" + dataset.name + "/" + key, 3, measure);
    return {times[0], times[1], static_cast<int>(times[2])};
}

}  // namespace warplab
