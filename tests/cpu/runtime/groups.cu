// All of cooperative groups, and launches by cudaLaunchKernel and related functions.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "checks.h"

namespace cg = cooperative_groups;

/// Run a kernel that counts the wrong results of each thread, and expect that there are none.
template <class Kernel>
void expect_none_wrong(Kernel kernel, int blocks, int threads) {
    int* wrong = on_device(std::vector<int>(blocks * threads, -1));
    kernel<<<blocks, threads>>>(wrong);
    CHECK(cudaGetLastError() == cudaSuccess);
    for (const int count : from_device(wrong, blocks * threads)) CHECK_EQUAL(count, 0);
}

__global__ void typed_tiles_kernel(int* wrong) {
    const unsigned t = threadIdx.x;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8, cg::thread_block_tile<32, cg::thread_block>> eighth =
        cg::tiled_partition<8>(cg::tiled_partition<32>(block));
    cg::thread_block_tile<4> quarter = cg::tiled_partition<4>(warp);
    cg::thread_group any = warp;
    int bad = warp.size() != 32 || warp.thread_rank() != t % 32 || warp.meta_group_rank() != t / 32;
    bad += warp.meta_group_size() != 4 || eighth.meta_group_rank() != t % 32 / 8 || eighth.meta_group_size() != 4;
    bad += quarter.meta_group_rank() != t % 32 / 4 || quarter.num_threads() != 4;
    bad += any.size() != 32 || any.thread_rank() != t % 32;
    any.sync();
    bad += quarter.shfl(int(t), 1) != int(t / 4 * 4 + 1) || quarter.shfl_xor(int(t), 3) != int(t ^ 3);
    bad += cg::this_thread().size() != 1 || cg::group_size(block) != 128 || cg::thread_rank(block) != t;
    bad += warp.match_any(t % 2) != (t % 2 ? 0xaaaaaaaau : 0x55555555u);
    int same = 0;
    bad += quarter.match_all(t / 4, same) != 0xf || same != 1;
    wrong[t] = bad;
}

__global__ void partitions_kernel(int* wrong) {
    const unsigned t = threadIdx.x, lane = t % 32;
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto third = cg::binary_partition(warp, lane % 3 == 0);
    int bad = third.size() != (lane % 3 == 0 ? 11u : 21u);
    bad += third.meta_group_rank() != unsigned(lane % 3 == 0) || third.meta_group_size() != 2;
    bad += cg::reduce(third, 1, cg::plus<int>()) != int(third.size());
    const auto whole = cg::binary_partition(warp, true);
    bad += whole.size() != 32 || whole.meta_group_size() != 1;
    const auto fifth = cg::labeled_partition(warp, int(lane % 5));
    bad += fifth.size() != (lane % 5 < 2 ? 7u : 6u) || fifth.meta_group_rank() != lane % 5;
    bad += fifth.meta_group_size() != 5 || fifth.thread_rank() != lane / 5;
    bad += cg::reduce(fifth, lane, cg::greater<unsigned>()) != lane % 5 + (fifth.size() - 1) * 5;
    bad += cg::inclusive_scan(fifth, 1) != int(lane / 5 + 1);
    bad += fifth.shfl(int(lane), 1) != int(lane % 5 + 5);
    const auto pair = cg::tiled_partition(fifth, 2);
    bad += pair.size() != (fifth.size() % 2 && lane / 5 == fifth.size() - 1 ? 1u : 2u);
    bad += pair.meta_group_rank() != lane / 5 / 2;
    wrong[t] = bad;
}

template <unsigned size>
__device__ int large_tile_wrong() {
    const unsigned t = threadIdx.x, first = t / size * size;
    const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    __shared__ unsigned seen[512];
    seen[t] = t;
    tile.sync();
    int bad = seen[first + (t + 33) % size] != first + (t + 33) % size;
    tile.sync();
    bad += tile.thread_rank() != t - first || tile.size() != size || tile.meta_group_rank() != t / size;
    bad += tile.meta_group_size() != 512 / size;
    bad += cg::reduce(tile, 1, cg::plus<int>()) != int(size);
    bad += cg::reduce(tile, t, cg::less<unsigned>()) != first;
    bad += cg::inclusive_scan(tile, 3u) != 3 * (t - first + 1) || cg::exclusive_scan(tile, 3u) != 3 * (t - first);
    bad += tile.shfl(t, 40) != first + 40;
    bad += tile.any(t == first + 50) != 1 || tile.any(0) != 0 || tile.all(1) != 1 || tile.all(t != first) != 0;
    return bad;
}

__global__ void large_tiles_kernel(int* wrong) {
    const int bad = large_tile_wrong<64>() + large_tile_wrong<128>() + large_tile_wrong<256>() + large_tile_wrong<512>();
    wrong[blockIdx.x * blockDim.x + threadIdx.x] = bad;
}

/// Half of the block has returned when the other half uses its tile.
__global__ void half_a_block_kernel(int* wrong) {
    wrong[threadIdx.x] = 0;
    if (threadIdx.x >= 64) return;
    const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    for (int i = 0; i < 3; ++i) tile.sync();
    wrong[threadIdx.x] = cg::reduce(tile, 2, cg::plus<int>()) != 128;
}

__global__ void block_kernel(int* wrong) {
    __shared__ int total, tile[64];
    const auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) total = 0;
    cg::thread_block::sync();
    atomicAdd(&total, 1);
    auto token = block.barrier_arrive();
    block.barrier_wait(std::move(token));
    int bad = total != int(block.num_threads()) || block.dim_threads().x != blockDim.x;
    const auto warp = cg::tiled_partition<32>(block);
    cg::memcpy_async(warp, tile + warp.meta_group_rank() * 32, wrong, 32 * sizeof(int));
    cg::wait(warp);
    bad += tile[threadIdx.x ^ 1] != -1;
    block.sync();
    bad += cg::invoke_one_broadcast(warp, [](int x) { return x + int(threadIdx.x / 32); }, 7) != 7 + int(threadIdx.x / 32);
    cg::invoke_one(block, [] { total = 5; });
    block.sync();
    bad += total != 5;
    wrong[threadIdx.x] = bad;
}

__global__ void order_of_sums_kernel(const float* in, float* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const float value = in[threadIdx.x];
    out[threadIdx.x] = cg::reduce(warp, value, cg::plus<float>());
    float sum = value;
    for (int bit = 16; bit > 0; bit /= 2) sum += __shfl_xor_sync(0xffffffff, sum, bit);
    out[32 + threadIdx.x] = sum;
}

void test_order_of_sums() {
    std::vector<float> values(32);
    for (int i = 0; i < 32; ++i) values[i] = 1.0f / float(i * i + 3);
    float* out = on_device(std::vector<float>(64));
    order_of_sums_kernel<<<1, 32>>>(on_device(values), out);
    const auto sums = from_device(out, 64);
    for (int i = 0; i < 32; ++i) CHECK_EQUAL(sums[i], sums[32 + i]);
}

// The grid

__global__ void ranks_kernel(int* wrong) {
    const auto grid = cg::this_grid();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    wrong[i] = grid.thread_rank() != i || grid.size() != 3 * 40 || grid.num_blocks() != 3 ||
               grid.block_rank() != blockIdx.x || grid.is_valid();
}

/// In each round, every block reads the values that another block wrote in the previous round.
__global__ void ring_kernel(int* values, int* next, int rounds) {
    __shared__ int mine[64];
    int local[4] = {int(threadIdx.x), 1, 2, 3};
    cg::grid_group grid = cg::this_grid();
    const unsigned i = unsigned(grid.thread_rank()), n = unsigned(grid.size());
    mine[threadIdx.x] = int(i);
    for (int round = 0; round < rounds; ++round) {
        next[i] = values[(i + blockDim.x) % n] + 1;
        grid.sync();
        values[i] = next[i];
        grid.sync();
    }
    if (mine[threadIdx.x] != int(i) || local[threadIdx.x % 4] != (threadIdx.x % 4 ? int(threadIdx.x % 4) : int(threadIdx.x)))
        values[i] = -1;
}

void test_grid() {
    expect_none_wrong(ranks_kernel, 3, 40);
    constexpr int blocks = 20, threads = 64, n = blocks * threads;
    std::vector<int> start(n);
    for (int i = 0; i < n; ++i) start[i] = 100 * i;
    int *values = on_device(start), *next = on_device(std::vector<int>(n)), rounds = 5;
    void* arguments[] = {&values, &next, &rounds};
    CHECK(cudaLaunchCooperativeKernel((void*)ring_kernel, blocks, threads, arguments) == cudaSuccess);
    const auto found = from_device(values, n);
    for (int i = 0; i < n; ++i) CHECK_EQUAL(found[i], 100 * ((i + 5 * threads) % n) + 5);
    int at_once = 0, multiprocessors = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, ring_kernel, threads, 0);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    const auto launch = [&](int count) {
        return cudaLaunchCooperativeKernel(ring_kernel, count, threads, arguments, 0, nullptr);
    };
    CHECK(launch(at_once * multiprocessors + 1) == cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
}

/// Some threads return before and between the grid's barriers, the last of a block after all others have arrived.
__global__ void returns_kernel(int* values, int* sums) {
    const unsigned t = threadIdx.x, n = blockDim.x;
    if (t % 2) return;
    values[blockIdx.x * n + t] = int(blockIdx.x) + 1;
    if (t == 30 || t == n - 2) return;
    cg::this_grid().sync();
    for (unsigned i = 0; i < gridDim.x; ++i) sums[blockIdx.x * n + t] += values[i * n + t];
    if (t >= 32) return;
    cg::this_grid().sync();
    values[blockIdx.x * n + t] = sums[(blockIdx.x + 1) % gridDim.x * n + t];
}

void test_grid_after_returns() {
    constexpr int blocks = 4, threads = 64, n = blocks * threads;
    int *values = on_device(std::vector<int>(n)), *sums = on_device(std::vector<int>(n));
    void* arguments[] = {&values, &sums};
    CHECK(cudaLaunchCooperativeKernel((void*)returns_kernel, blocks, threads, arguments) == cudaSuccess);
    const auto found = from_device(values, n);
    for (int i = 0; i < n; ++i) {
        const int t = i % threads;
        CHECK_EQUAL(found[i], t % 2 ? 0 : t < 30 ? 10 : i / threads + 1);
    }
}

__global__ void add_kernel(int* to, short value, int more) { atomicAdd(to, value + more); }

void test_launches_by_call() {
    int *to = on_device(std::vector<int>(1, 0)), more = 1;
    short value = 2;
    void* arguments[] = {&to, &value, &more};
    CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(add_kernel), dim3(2), dim3(5), arguments, 0, 0) == cudaSuccess);
    CHECK_EQUAL(from_device(to), 30);
    cudaLaunchConfig_t config = {};
    config.gridDim = 3;
    config.blockDim = 2;
    CHECK(cudaLaunchKernelEx(&config, add_kernel, to, 4, 0) == cudaSuccess);
    CHECK_EQUAL(from_device(to), 54);
    CHECK(cudaLaunchKernel((void*)add_kernel, 1, 2000, arguments) == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
}

int main(int count, char** arguments) {
    use_arguments(count, arguments);
    expect_none_wrong(typed_tiles_kernel, 1, 128);
    expect_none_wrong(partitions_kernel, 1, 64);
    expect_none_wrong(large_tiles_kernel, 2, 512);
    expect_none_wrong(half_a_block_kernel, 1, 128);
    expect_none_wrong(block_kernel, 1, 64);
    test_order_of_sums();
    test_grid();
    test_grid_after_returns();
    test_launches_by_call();
    return wrong_checks != 0;
}
