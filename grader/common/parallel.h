#pragma once
// Distributes independent work among several cores.

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace warplab {

/// Return the number of cores, which is read once: the C library would read it from a file each time.
inline std::size_t count_cores() {
    static const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    return cores;
}

/// Call work(index) for each index below `count`: in this thread if `max_threads` or `count` is 1, otherwise on at most
/// `max_threads` new threads, which take the next index in turn and start no OpenMP threads. Rethrow an exception of
/// `work` after all threads have ended.
template <class Work>
void for_each_index(std::size_t count, std::size_t max_threads, const Work& work) {
    if (std::min(count, max_threads) <= 1) {
        for (std::size_t i = 0; i < count; ++i) work(i);
        return;
    }
    std::atomic<std::size_t> next = 0;
    std::vector<std::future<void>> threads;
    for (std::size_t i = 0; i < std::min(count, max_threads); ++i)
        threads.push_back(std::async(std::launch::async, [&] {
            omp_set_num_threads(1);
            for (std::size_t item; (item = next++) < count;) work(item);
        }));
    for (auto& thread : threads) thread.wait();  // before get() may throw, because the threads use local variables
    for (auto& thread : threads) thread.get();
}

}  // namespace warplab
