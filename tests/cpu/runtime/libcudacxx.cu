// libcu++: atomics, barriers, pipelines, semaphores, and cuda::std.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numbers>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>

#include "checks.h"

namespace cg = cooperative_groups;

__global__ void atomics_kernel(int* sum, float* maximum, unsigned* histogram) {
    cuda::atomic_ref<int, cuda::thread_scope_device> total(*sum);
    total.fetch_add(2, cuda::memory_order_relaxed);
    ++total;
    cuda::atomic_ref<float, cuda::thread_scope_device>(*maximum).fetch_max(float(threadIdx.x),
                                                                           cuda::std::memory_order_relaxed);
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x].store(0, cuda::memory_order_relaxed);
    __syncthreads();
    bins[threadIdx.x % 4]++;
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x].load(cuda::memory_order_relaxed));
}

/// Thread 1 waits for a flag of thread 63.
__global__ void message_kernel(int* out) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
    __shared__ int message;
    if (threadIdx.x == 0) new (&ready) cuda::atomic<int, cuda::thread_scope_block>(0);
    __syncthreads();
    if (threadIdx.x == 63) {
        message = 42;
        ready.store(1, cuda::memory_order_release);
    } else if (threadIdx.x == 1) {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        *out = message;
    }
}

__global__ void barrier_kernel(int* wrong) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ Barrier meeting;
    __shared__ int values[64];
    if (threadIdx.x == 0) init(&meeting, blockDim.x);
    __syncthreads();
    int bad = 0;
    for (int round = 0; round < 3; ++round) {
        values[threadIdx.x] = int(threadIdx.x) + round;
        Barrier::arrival_token token = meeting.arrive();
        meeting.wait(std::move(token));
        bad += values[(threadIdx.x + 33) % 64] != int((threadIdx.x + 33) % 64) + round;
        meeting.arrive_and_wait();
    }
    cuda::memcpy_async(cg::this_thread_block(), values, wrong, sizeof(values), meeting);
    meeting.arrive_and_wait();
    bad += values[threadIdx.x ^ 1] != -1;
    wrong[threadIdx.x] = bad;
}

__global__ void pipeline_kernel(const int* in, int* out, int batches) {
    constexpr unsigned stages = 2;
    __shared__ int buffers[stages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int compute = 0, fetch = 0; compute < batches; ++compute) {
        for (; fetch < batches && fetch < compute + int(stages); ++fetch) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, buffers[fetch % stages], in + fetch * 64, sizeof(int) * 64, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += buffers[compute % stages][threadIdx.x ^ 1];
        pipeline.consumer_release();
    }
    auto own = cuda::make_pipeline();
    int mine;
    cuda::memcpy_async(&mine, in + threadIdx.x, cuda::aligned_size_t<4>(sizeof(int)), own);
    own.producer_commit();
    own.consumer_wait();
    __shared__ int staged[64];
    __pipeline_memcpy_async(&staged[threadIdx.x], in, sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = sum + 0 * mine + staged[threadIdx.x];
}

__global__ void standard_kernel(int* wrong) {
    cuda::std::array<int, 3> values = {1, 2, 3};
    auto [a, b] = cuda::std::make_pair(values[0], values.size());
    cuda::std::tuple<int, float> both(7, 1.5f);
    wrong[threadIdx.x] = a != 1 || b != 3 || cuda::std::get<0>(both) != 7 || cuda::std::get<1>(both) != 1.5f ||
                         cuda::std::numeric_limits<int>::max() != 0x7fffffff;
}

__host__ __device__ int sum_of(cuda::std::span<const int> values) {
    int sum = 0;
    for (const int value : values) sum += value;
    return sum;
}

__global__ void views_kernel(cuda::std::span<int> all, int rows, int columns, int* wrong) {
    using cuda::std::array;
    const cuda::std::mdspan<int, cuda::std::dextents<int, 2>> by_rows(all.data(), rows, columns);
    const cuda::std::mdspan<int, cuda::std::dextents<int, 2>, cuda::std::layout_left> by_columns(all.data(), rows,
                                                                                                 columns);
    const cuda::std::mdspan<int, cuda::std::extents<int, 2, cuda::std::dynamic_extent>> half(all.data(), columns);
    for (int i = threadIdx.x; i < rows * columns; i += blockDim.x) by_rows(i / columns, i % columns) = i;
    __syncthreads();
    int local[3] = {1, 2, 3};
    const cuda::std::span<int, 3> fixed(local);
    int bad = by_rows(1, 2) != columns + 2 || by_columns(1, 2) != 2 * rows + 1 || half(1, 1) != columns + 1;
    bad += by_rows[array<int, 2>{2, 1}] != 2 * columns + 1 || by_rows.extent(1) != columns || half.extent(0) != 2;
    bad += int(by_rows.size()) != rows * columns || by_rows.stride(0) != columns || by_columns.stride(0) != 1;
    bad += sum_of(fixed) != 6 || sum_of(all.first(3)) != 3 || sum_of(all.subspan(2, 2)) != 5 || all.back() != 11;
    bad += fixed.last<1>()[0] != 3 || all.size_bytes() != 48 || all.empty();
    wrong[threadIdx.x] = bad;
}

__global__ void functions_kernel(int* wrong) {
    namespace cs = cuda::std;
    int bad = cuda::ceil_div(10, 4) != 3 || cuda::round_up(10u, 4) != 12 || cuda::round_down(10, 4) != 8;
    bad += cs::popcount(0xf0u) != 4 || cs::countl_zero(uint8_t(1)) != 7 || cs::countr_zero(0u) != 32;
    bad += cs::bit_ceil(17u) != 32 || cs::bit_floor(17u) != 16 || cs::bit_width(17u) != 5 || !cs::has_single_bit(64u);
    bad += cs::rotl(uint8_t(0x81), 1) != 3 || cs::rotr(1u, 1) != 0x80000000u || cs::countl_one(0xc0000000u) != 2;
    bad += cs::bit_cast<unsigned>(1.0f) != 0x3f800000u;
    bad += cs::numbers::pi_v<float> != 3.14159265f || cuda::maximum<>{}(3, 4) != 4;
    *wrong = bad;
}

__global__ void latch_kernel(int* out) {
    __shared__ cuda::latch<cuda::thread_scope_block>* ready;
    __shared__ cuda::binary_semaphore<cuda::thread_scope_block>* one;
    __shared__ alignas(16) char latch_place[sizeof(*ready)], semaphore_place[sizeof(*one)];
    __shared__ int sum;
    if (threadIdx.x == 0) {
        ready = new (latch_place) cuda::latch<cuda::thread_scope_block>(64);
        one = new (semaphore_place) cuda::binary_semaphore<cuda::thread_scope_block>(1);
        sum = 0;
    }
    __syncthreads();
    ready->arrive_and_wait();
    one->acquire();
    sum += 2;
    one->release();
    __syncthreads();
    if (threadIdx.x == 0) *out = sum;
}

int main(int count, char** arguments) {
    use_arguments(count, arguments);
    int* sum = on_device(std::vector<int>(1, 0));
    float* maximum = on_device(std::vector<float>(1, -1));
    unsigned* histogram = on_device(std::vector<unsigned>(4, 0));
    atomics_kernel<<<3, 64>>>(sum, maximum, histogram);
    CHECK_EQUAL(from_device(sum), 3 * 64 * 3);
    CHECK_EQUAL(from_device(maximum), 63);
    for (const unsigned bin : from_device(histogram, 4)) CHECK_EQUAL(bin, 48);
    int* out = on_device(std::vector<int>(1, 0));
    message_kernel<<<1, 64>>>(out);
    CHECK_EQUAL(from_device(out), 42);
    int* wrong = on_device(std::vector<int>(64, -1));
    barrier_kernel<<<1, 64>>>(wrong);
    for (const int value : from_device(wrong, 64)) CHECK_EQUAL(value, 0);
    standard_kernel<<<1, 1>>>(wrong);
    CHECK_EQUAL(from_device(wrong), 0);
    functions_kernel<<<1, 1>>>(wrong);
    CHECK_EQUAL(from_device(wrong), 0);
    int* cells = on_device(std::vector<int>(12));
    views_kernel<<<1, 64>>>(cuda::std::span<int>(cells, 12), 3, 4, wrong);
    for (const int value : from_device(wrong, 64)) CHECK_EQUAL(value, 0);
    latch_kernel<<<1, 64>>>(out);
    CHECK_EQUAL(from_device(out), 128);
    std::vector<int> in(5 * 64);
    for (int i = 0; i < 5 * 64; ++i) in[i] = i;
    pipeline_kernel<<<1, 64>>>(on_device(in), wrong, 5);
    const auto sums = from_device(wrong, 64);
    for (int t = 0; t < 64; ++t) CHECK_EQUAL(sums[t], 64 * 10 + 5 * (t ^ 1));
    return wrong_checks != 0;
}
