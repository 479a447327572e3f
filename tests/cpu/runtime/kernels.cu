// Launches, shared memory, barriers, warp functions, atomics, inline PTX, cooperative groups.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "checks.h"

namespace cg = cooperative_groups;

// Launches

__global__ void indices_kernel(int* out) {
    const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] = int(threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x +
                                        10000 * blockIdx.y + 100000 * blockIdx.z);
}

struct Line {
    float slope, offset;
    __host__ __device__ float at(float x) const { return slope * x + offset; }
};

__global__ void struct_kernel(Line line, float* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    line.offset += i;  // a thread's own copy
    if (i < count) out[i] = line.at(1.0f);
}

template <class T, int factor>
__global__ __launch_bounds__(128) void scale_kernel(const T* __restrict__ in, T* __restrict__ out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) out[i] = in[i] * factor;
}

template <class F>
__global__ void apply_kernel(F function, int* out) {
    out[threadIdx.x] = function(threadIdx.x);
}

__device__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
__global__ void recursion_kernel(int* out) { out[threadIdx.x] = depth(threadIdx.x) + twice(threadIdx.x); }
__global__ void parameter_kernel(int* out, int value = 7) { *out = value; }

void test_launches() {
    int* out = on_device(std::vector<int>(4096, -1));
    indices_kernel<<<dim3(2, 3, 2), dim3(5, 4, 3)>>>(out);
    const auto indices = from_device(out, 720);
    int at = 0;
    for (int bz = 0; bz < 2; ++bz)
        for (int by = 0; by < 3; ++by)
            for (int bx = 0; bx < 2; ++bx)
                for (int z = 0; z < 3; ++z)
                    for (int y = 0; y < 4; ++y)
                        for (int x = 0; x < 5; ++x)
                            CHECK_EQUAL(indices[at++], x + 10 * y + 100 * z + 1000 * bx + 10000 * by + 100000 * bz);

    float* numbers = on_device(std::vector<float>(300, -1));
    struct_kernel<<<3, 128>>>(Line{2, 1}, numbers, 300);
    const auto got = from_device(numbers, 300);
    for (int i = 0; i < 300; ++i) CHECK_EQUAL(got[i], 3.0f + i);

    int* in = on_device(std::vector<int>{1, 2, 3, 4, 5});
    scale_kernel<int, 3><<<2, 2>>>(in, out, 5);
    CHECK_EQUAL(from_device(out, 5)[4], 15);
    void (*chosen)(const int*, int*, int) = scale_kernel<int, 5>;
    chosen<<<1, 32>>>(in, out, 5);
    CHECK_EQUAL(from_device(out, 5)[4], 25);

    const int offset = 100;
    apply_kernel<<<1, 64>>>([=] __device__(int i) { return i + offset; }, out);
    CHECK_EQUAL(from_device(out, 64)[63], 163);
    recursion_kernel<<<1, 64>>>(out);
    CHECK_EQUAL(from_device(out, 64)[63], 63 * 3);
    parameter_kernel<<<1, 1>>>(out);
    CHECK_EQUAL(from_device(out), 7);
    CHECK(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
}

// Shared memory

__global__ void reverse_kernel(int* values) {
    __shared__ int tile[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = values[i];
    __syncthreads();
    values[i] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void dynamic_kernel(int* values) {
    extern __shared__ int staged[];
    double* after = reinterpret_cast<double*>(staged + blockDim.x);
    staged[threadIdx.x] = values[threadIdx.x];
    after[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    const int other = (threadIdx.x + 1) % blockDim.x;
    values[threadIdx.x] = staged[other] * 1000 + int(after[other]);
}

extern __shared__ float file_scope[];
__global__ void file_scope_kernel(float* out) {
    file_scope[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = file_scope[blockDim.x - 1 - threadIdx.x];
}

__global__ void unwritten_kernel(unsigned* out) {
    __shared__ unsigned fixed[8];
    extern __shared__ unsigned dynamic[];
    __shared__ float number;
    out[0] = fixed[3];
    out[1] = dynamic[5];
    out[2] = number != number;
    fixed[3] = dynamic[5] = number = 0;  // the next block must not see these
}

template <int size>
__device__ int* tile_of() {
    __shared__ int tile[size];
    return tile;
}
__global__ void device_function_kernel(int* out) {
    int* small = tile_of<32>();
    int* large = tile_of<64>();
    small[threadIdx.x] = 1;
    large[threadIdx.x] = 2;
    __syncthreads();
    out[threadIdx.x] = small[31 - threadIdx.x] + 10 * large[31 - threadIdx.x];
}

void test_shared_memory() {
    std::vector<int> values(1024);
    for (int i = 0; i < 1024; ++i) values[i] = i;
    int* device = on_device(values);
    reverse_kernel<<<4, 256>>>(device);
    const auto reversed = from_device(device, 1024);
    for (int i = 0; i < 1024; ++i) CHECK_EQUAL(reversed[i], i / 256 * 256 + 255 - i % 256);

    device = on_device(values);
    dynamic_kernel<<<1, 128, 128 * 12>>>(device);
    CHECK_EQUAL(from_device(device, 128)[127], 0);
    CHECK_EQUAL(from_device(device, 128)[7], 8008);

    float* numbers = on_device(std::vector<float>(64));
    file_scope_kernel<<<1, 64, 256>>>(numbers);
    CHECK_EQUAL(from_device(numbers, 64)[0], 63.0f);

    unsigned* poison = on_device(std::vector<unsigned>(3));
    for (int i = 0; i < 3; ++i) {
        unwritten_kernel<<<64, 1, 64>>>(poison);
        const auto seen = from_device(poison, 3);
        CHECK(seen[0] != 0 && seen[1] != 0 && seen[2] == 1);
    }

    device_function_kernel<<<1, 32>>>(device);
    CHECK_EQUAL(from_device(device, 32)[9], 21);
}

// Barriers

__global__ void tree_kernel(const int* in, int* sum, int count) {
    extern __shared__ int part[];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < count ? in[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(sum, part[0]);
}

__global__ void votes_kernel(int* out) {
    const int t = threadIdx.x;
    const int count = __syncthreads_count(t % 3 == 0);
    const int all = __syncthreads_and(t < 1000);
    const int not_all = __syncthreads_and(t < 10);
    const int any = __syncthreads_or(t == 77);
    const int none = __syncthreads_or(t > 5000);
    out[t] = count * 10000 + all * 1000 + not_all * 100 + any * 10 + none;
}

__global__ void early_return_kernel(int* out, int count) {
    __shared__ int seen;
    if (threadIdx.x == 0) seen = 0;
    if (threadIdx.x >= unsigned(count)) return;
    __syncthreads();
    atomicAdd(&seen, 1);
    __syncthreads();
    out[threadIdx.x] = seen;
}

__global__ void leave_waiting_kernel(int* out, int count) {
    if (threadIdx.x >= unsigned(count)) return;
    __syncthreads();
    out[threadIdx.x] = 7;
}

__global__ void late_first_kernel(int* out) {  // the first threads at the barrier are not the block's first
    __shared__ int order[4];
    if (threadIdx.x % 2) __syncwarp(0xaaaaaaaa);
    order[threadIdx.x % 4] = 1;
    __syncthreads();
    out[threadIdx.x] = order[0] + order[1] + order[2] + order[3];
}

void test_barriers() {
    for (int block : {1, 2, 32, 64, 256, 1024}) {
        std::vector<int> in(5000);
        int expected = 0;
        for (int i = 0; i < 5000; ++i) expected += in[i] = i * 7 % 1001;
        int *device = on_device(in), *sum = on_device(std::vector<int>{0});
        tree_kernel<<<(5000 + block - 1) / block, block, block * 4>>>(device, sum, 5000);
        CHECK_EQUAL(from_device(sum), expected);
        cudaFree(device), cudaFree(sum);
    }
    int* out = on_device(std::vector<int>(1024));
    votes_kernel<<<2, 96>>>(out);
    for (int value : from_device(out, 96)) CHECK_EQUAL(value, 321010);

    const auto before = warplab::cpu::counters().early_exits;
    early_return_kernel<<<1, 256>>>(out, 100);
    for (int value : from_device(out, 100)) CHECK_EQUAL(value, 100);
    CHECK_EQUAL(warplab::cpu::counters().early_exits, before + 1);
    early_return_kernel<<<3, 256>>>(out, 1);
    CHECK_EQUAL(from_device(out), 1);
    CHECK_EQUAL(warplab::cpu::counters().early_exits, before + 4);
    early_return_kernel<<<3, 256>>>(out, 256);
    CHECK_EQUAL(from_device(out), 256);
    CHECK_EQUAL(warplab::cpu::counters().early_exits, before + 4);
    leave_waiting_kernel<<<2, 64>>>(out, 63);
    CHECK_EQUAL(from_device(out), 7);
    CHECK_EQUAL(warplab::cpu::counters().early_exits, before + 6);
    late_first_kernel<<<2, 64>>>(out);
    for (int value : from_device(out, 64)) CHECK_EQUAL(value, 4);
}

// Warp functions

__global__ void shuffles_kernel(int* out) {
    const int t = threadIdx.x, lane = t % 32;
    int wrong = 0;
    wrong += __shfl_sync(~0u, t, 5) != t / 32 * 32 + 5;
    wrong += __shfl_sync(~0u, lane, 3, 8) != lane / 8 * 8 + 3;
    wrong += __shfl_sync(~0u, lane, 35) != 3;
    wrong += __shfl_up_sync(~0u, lane, 3) != (lane < 3 ? lane : lane - 3);
    wrong += __shfl_up_sync(~0u, lane, 2, 4) != (lane % 4 < 2 ? lane : lane - 2);
    wrong += __shfl_down_sync(~0u, lane, 30) != (lane < 2 ? lane + 30 : lane);
    wrong += __shfl_down_sync(~0u, lane, 1, 16) != (lane % 16 == 15 ? lane : lane + 1);
    wrong += __shfl_xor_sync(~0u, lane, 21) != (lane ^ 21);
    wrong += __shfl_xor_sync(~0u, lane, 1, 2) != (lane ^ 1);
    wrong += __shfl_sync(~0u, 1.5f * lane, lane ^ 1) != 1.5f * (lane ^ 1);
    wrong += __shfl_sync(~0u, 1e300 * lane, 31 - lane) != 1e300 * (31 - lane);
    wrong += __shfl_sync(~0u, (1ll << 40) * lane, 7) != (7ll << 40);
    wrong += threadIdx.x != unsigned(t);
    int sum = lane;
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
    if (lane == 0) wrong += sum != 31 * 16;
    out[t] = wrong;
}

__global__ void half_masks_kernel(int* out) {
    const int t = threadIdx.x, lane = t % 32;
    int sum = lane;
    if (lane < 16) {
        for (int half = 8; half > 0; half /= 2) sum += __shfl_down_sync(0x0000ffff, sum, half, 16);
        __syncwarp(0x0000ffff);
    } else {
        for (int i = 0; i < 3; ++i) sum += __shfl_xor_sync(0xffff0000, lane, 1);
        sum = __reduce_add_sync(0xffff0000, lane);
    }
    __syncwarp();
    out[t] = __shfl_sync(~0u, sum, lane & 16);
}

__global__ void votes_in_warp_kernel(unsigned* out) {
    const unsigned t = threadIdx.x, lane = t % 32;
    unsigned wrong = 0;
    wrong += __ballot_sync(~0u, lane % 2) != 0xaaaaaaaau;
    wrong += __any_sync(~0u, lane == 31) != 1;
    wrong += __any_sync(~0u, lane == 32) != 0;
    wrong += __all_sync(~0u, lane < 32) != 1;
    wrong += __all_sync(~0u, lane < 31) != 0;
    wrong += __match_any_sync(~0u, lane / 8) != 0xffu << lane / 8 * 8;
    wrong += __shfl_sync(~0u, -1, 0) != -1;  // the arguments of other lanes here are not votes
    if (lane >= 16) wrong += __ballot_sync(0xffff0000u, 0) != 0;
    int all = -1;
    wrong += __match_all_sync(~0u, 5, &all) != ~0u || all != 1;
    wrong += __match_all_sync(~0u, lane, &all) != 0 || all != 0;
    wrong += __reduce_add_sync(~0u, lane) != 496;
    wrong += __reduce_max_sync(~0u, int(lane) - 40) != -9;
    wrong += __reduce_min_sync(~0u, int(lane) - 40) != -40;
    wrong += __reduce_max_sync(~0u, lane * 3) != 93;
    wrong += __reduce_and_sync(~0u, lane | 96) != 96;
    wrong += __reduce_or_sync(~0u, lane) != 31;
    wrong += __reduce_xor_sync(~0u, lane) != 0;
    wrong += __activemask() != ~0u;
    if (lane < 10) wrong += __activemask() != 0x3ff;
    else wrong += __activemask() != ~0x3ffu;
    out[t] = wrong;
}

__global__ void exits_release_kernel(int* out) {  // lanes wait for lanes that have returned
    const int lane = threadIdx.x % 32;
    if (lane % 4 == 3) return;
    __syncwarp();
    const int sum = __reduce_add_sync(0x77777777, 1);
    if (lane == 0) {
        out[threadIdx.x / 32] = sum;
        return;
    }
    __syncwarp(0x77777776);
}

__global__ void ragged_warp_kernel(unsigned* out) {  // the last warp has 16 lanes
    const unsigned lane = threadIdx.x % 32;
    const unsigned mask = threadIdx.x < 32 ? 0xffffffffu : 0xffffu;
    const unsigned votes = __ballot_sync(mask, 1);
    const unsigned taken = __shfl_down_sync(mask, 0u, 16);
    out[threadIdx.x] = votes != mask || (lane < 16 && threadIdx.x >= 32 ? taken == 0 : taken != 0);
}

// Lanes diverge in every step, depending on a hash that all of them can compute: some groups shuffle, some vote, some
// do nothing. Sometimes the whole block synchronises, and some threads return.

__host__ __device__ unsigned hash(unsigned a, unsigned b) {
    unsigned x = a * 0x9e3779b9u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    return x ^ x >> 12;
}
__host__ __device__ unsigned last_step(unsigned thread, unsigned seed) {
    return hash(thread, seed) % 4 == 0 ? hash(thread, seed + 1) % 40 : 1000;
}
__host__ __device__ unsigned branch(unsigned thread, unsigned step, unsigned seed) {
    return hash(hash(thread, step), seed + 2) % 4;
}

__global__ void random_branches_kernel(int* wrong, unsigned seed) {
    const unsigned t = threadIdx.x, lane = t % 32, first = t - lane;
    for (unsigned step = 0; step < 40; ++step) {
        if (last_step(t, seed) == step) return;
        unsigned mask = 0, together = 0;
        for (unsigned i = 0; i < 32 && first + i < blockDim.x; ++i)
            if (last_step(first + i, seed) > step && branch(first + i, step, seed) == branch(t, step, seed))
                mask |= 1u << i;
        const unsigned next = (mask >> lane) > 1 ? lane + __ffs(mask >> (lane + 1)) : __ffs(mask) - 1;
        switch (branch(t, step, seed)) {
            case 0:
                for (unsigned round = 0; round < 3; ++round)
                    atomicAdd(wrong, __shfl_sync(mask, 64 * t + round, next) != 64 * (first + next) + round);
                break;
            case 1:
                atomicAdd(wrong, __ballot_sync(mask, hash(t, step) & 1) != __ballot_sync(mask, hash(t, step) & 1));
                atomicAdd(wrong, __ballot_sync(mask, 1) != mask);
                break;
            case 2:
                atomicAdd(wrong, __reduce_add_sync(mask, 1u) != unsigned(__popc(mask)));
                __syncwarp(mask);
                break;
            default: together = 1;
        }
        if (hash(step, seed) % 3 == 0) {
            unsigned alive = 0, expected = 0;
            for (unsigned i = 0; i < blockDim.x; ++i) {
                alive += last_step(i, seed) > step;
                expected += last_step(i, seed) > step && branch(i, step, seed) == 3;
            }
            atomicAdd(wrong, __syncthreads_count(together) != int(expected));
            atomicAdd(wrong, __syncthreads_count(1) != int(alive));
            atomicAdd(wrong, __syncthreads_and(1) != 1);
            __syncthreads();
        }
    }
}

void test_random_branches() {
    int* wrong = on_device(std::vector<int>{0});
    for (unsigned seed = 0; seed < 60; ++seed) {
        const int blocks[] = {32, 50, 64, 96, 130};
        random_branches_kernel<<<3, blocks[seed % 5]>>>(wrong, seed);
    }
    CHECK_EQUAL(from_device(wrong), 0);
}

void test_warp_functions() {
    int* out = on_device(std::vector<int>(1024, -1));
    for (int block : {32, 64, 256, 1024}) {
        shuffles_kernel<<<3, block>>>(out);
        for (int wrong : from_device(out, block)) CHECK_EQUAL(wrong, 0);
        votes_in_warp_kernel<<<3, block>>>(reinterpret_cast<unsigned*>(out));
        for (int wrong : from_device(out, block)) CHECK_EQUAL(wrong, 0);
        half_masks_kernel<<<3, block>>>(out);
        const auto sums = from_device(out, block);
        for (int i = 0; i < block; ++i) CHECK_EQUAL(sums[i], i % 32 < 16 ? 120 : 376);
    }
    exits_release_kernel<<<2, 128>>>(out);
    for (int sum : from_device(out, 4)) CHECK_EQUAL(sum, 24);
    ragged_warp_kernel<<<2, 48>>>(reinterpret_cast<unsigned*>(out));
    for (int wrong : from_device(out, 48)) CHECK_EQUAL(wrong, 0);
}

// Atomics

template <class T>
__global__ void atomic_sums_kernel(T* sum) {
    __shared__ T block_sum;
    if (threadIdx.x == 0) block_sum = 0;
    __syncthreads();
    atomicAdd(&block_sum, T(threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, block_sum);
    atomicAdd_system(sum, T(1));
}

__global__ void atomics_kernel(int* i, unsigned* u, long long* l, unsigned long long* ul, float* f) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicSub(&i[0], 2);
    atomicMin(&i[1], -t);
    atomicMax(&i[2], t);
    atomicAnd(&i[3], ~(1 << t % 31));
    atomicOr(&i[4], 1 << t % 31);
    atomicXor(&i[5], 1 << t % 31);
    atomicInc(&u[0], 99);
    atomicDec(&u[1], 99);
    atomicMin(&u[2], 5u + t);
    atomicMax(&u[3], 5u + t);
    atomicMin(&l[0], -(1ll << 40) - t);
    atomicMax(&l[1], (1ll << 40) + t);
    atomicAdd(&ul[0], 1ull << 33);
    atomicOr(&ul[1], 1ull << t % 64);
    atomicExch(&f[0], 2.5f);
    atomicExch(&i[6], 9);
    float* largest = &f[1];  // by compare-and-swap
    int seen = __float_as_int(*largest);
    while (__int_as_float(seen) < float(t)) {
        const int before = atomicCAS(reinterpret_cast<int*>(largest), seen, __float_as_int(float(t)));
        if (before == seen) break;
        seen = before;
    }
}

// Counts by compare-and-swap: in counts[0] repeatedly until it succeeds, in counts[1] once.
__global__ void swap_kernel(int* counts) {
    int seen = *const_cast<volatile int*>(&counts[0]);
    for (int before; (before = atomicCAS(&counts[0], seen, seen + 1)) != seen;) seen = before;
    const int once = *const_cast<volatile int*>(&counts[1]);
    atomicCAS(&counts[1], once, once + 1);
}

__device__ int lock_word = 0;
__device__ int guarded = 0;
__global__ void lock_kernel() {
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            guarded = guarded + 1;
            __threadfence();
            atomicExch(&lock_word, 0);
            done = true;
        }
    }
}
__global__ void exchange_lock_kernel(int* count) {
    __shared__ int lock;
    if (threadIdx.x == 0) lock = 0;
    __syncthreads();
    while (atomicExch(&lock, 1) != 0) {
    }
    *count += 1;
    __threadfence_block();
    __syncwarp(1u << threadIdx.x % 32);  // a switch inside the critical section
    atomicExch(&lock, 0);
}
__global__ void flag_kernel(int* out) {  // each thread waits for the first and for the last thread
    __shared__ int flags[2];
    if (threadIdx.x < 2) flags[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) atomicExch(&flags[0], 1);
    if (threadIdx.x == 0) atomicExch(&flags[1], 1);
    while (atomicAdd(&flags[0], 0) == 0 || atomicAdd(&flags[1], 0) == 0) {
    }
    out[threadIdx.x] = 1;
}
__global__ void sleep_kernel(int* out) {
    volatile int* ready = out;
    if (threadIdx.x == 33) *ready = 5;
    while (*ready != 5) __nanosleep(100);
}

__device__ unsigned blocks_done = 0;
__global__ void last_block_kernel(const int* in, int* part, int* sum) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        *sum = 0;
        for (unsigned i = 0; i < gridDim.x; ++i) *sum += part[i];
    }
}

template <class T>
void test_sum() {
    T* sum = on_device(std::vector<T>{0});
    atomic_sums_kernel<<<20, 100>>>(sum);
    CHECK_EQUAL(from_device(sum), T(20 * 4950 + 2000));
    cudaFree(sum);
}

void test_atomics() {
    test_sum<int>();
    test_sum<unsigned>();
    test_sum<unsigned long long>();
    test_sum<float>();
    test_sum<double>();
    int* i = on_device(std::vector<int>{0, 0, 0, -1, 0, 0, 0});
    unsigned* u = on_device(std::vector<unsigned>{0, 0, 1000, 0});
    long long* l = on_device(std::vector<long long>{0, 0});
    unsigned long long* ul = on_device(std::vector<unsigned long long>{0, 0});
    float* f = on_device(std::vector<float>{0, 0});
    atomics_kernel<<<10, 62>>>(i, u, l, ul, f);
    CHECK(from_device(i, 7) == (std::vector<int>{-1240, -619, 619, int(0x80000000), 0x7fffffff, 0, 9}));
    CHECK(from_device(u, 4) == (std::vector<unsigned>{20, 80, 5, 624}));
    CHECK(from_device(l, 2) == (std::vector<long long>{-(1ll << 40) - 619, (1ll << 40) + 619}));
    CHECK(from_device(ul, 2) == (std::vector<unsigned long long>{620ull << 33, ~0ull}));
    CHECK(from_device(f, 2) == (std::vector<float>{2.5f, 619.0f}));

    lock_kernel<<<16, 64>>>();
    int count = 0;
    CHECK(cudaMemcpyFromSymbol(&count, guarded, sizeof(int)) == cudaSuccess);
    CHECK_EQUAL(count, 1024);
    int* total = on_device(std::vector<int>{0});
    exchange_lock_kernel<<<1, 128>>>(total);
    CHECK_EQUAL(from_device(total), 128);
    int* out = on_device(std::vector<int>(128));
    flag_kernel<<<1, 128>>>(out);
    for (int value : from_device(out, 128)) CHECK_EQUAL(value, 1);
    sleep_kernel<<<1, 128>>>(out);
    CHECK_EQUAL(from_device(out), 5);
    std::vector<int> in(100, 3);
    int *part = on_device(std::vector<int>(100)), *device_in = on_device(in);
    for (int round = 0; round < 3; ++round) {
        last_block_kernel<<<100, 64>>>(device_in, part, total);
        CHECK_EQUAL(from_device(total), 300);
    }
}

// Inline PTX that needs no GPU

__global__ void special_registers_kernel(int* wrong) {
    unsigned lane, below, processor;
    long long before, after;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    asm("mov.u32 %0, %%smid;" : "=r"(processor));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(before));
    asm volatile("" ::: "memory");
    __nanosleep(10);
    after = clock64();
    const unsigned t = threadIdx.x;
    wrong[t] = lane != t % 32 || below != (1u << t % 32) - 1 || processor >= 16 || after < before;
}

void test_special_registers() {
    int* wrong = on_device(std::vector<int>(40, -1));
    special_registers_kernel<<<1, 40>>>(wrong);
    for (const int value : from_device(wrong, 40)) CHECK_EQUAL(value, 0);
}

// Cooperative groups

template <int size>
__device__ int tile_wrong() {
    const int t = threadIdx.x, lane = t % 32;
    auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    int wrong = 0;
    wrong += tile.thread_rank() != unsigned(t % size) || tile.size() != size;
    wrong += tile.meta_group_rank() != unsigned(t / size);
    wrong += tile.shfl(lane, 0) != lane / size * size;
    wrong += tile.shfl_xor(lane, size / 2) != (lane ^ (size / 2));
    wrong += tile.shfl_down(lane, 1) != (lane % size == size - 1 ? lane : lane + 1);
    wrong += tile.shfl_up(lane, 1) != (lane % size == 0 ? lane : lane - 1);
    wrong += tile.ballot(tile.thread_rank() == 0) != 1;
    wrong += tile.any(tile.thread_rank() == size - 1) != 1 || tile.all(1) != 1;
    wrong += cg::reduce(tile, int(tile.thread_rank()), cg::plus<int>()) != size * (size - 1) / 2;
    wrong += cg::reduce(tile, lane, cg::greater<int>()) != lane / size * size + size - 1;
    wrong += cg::inclusive_scan(tile, 2) != 2 * int(tile.thread_rank() + 1);
    wrong += cg::exclusive_scan(tile, 2) != 2 * int(tile.thread_rank());
    tile.sync();
    return wrong;
}

struct Pair {
    double value;
    int place;
};

__global__ void groups_kernel(int* out) {
    const auto block = cg::this_thread_block();
    const int t = threadIdx.x;
    int wrong = tile_wrong<32>() + tile_wrong<16>() + tile_wrong<4>() + tile_wrong<2>();
    wrong += block.thread_rank() != unsigned(t) || block.size() != blockDim.x;
    wrong += block.group_index().x != blockIdx.x || block.thread_index().x != threadIdx.x;
    const auto warp = cg::tiled_partition<32>(block);
    const Pair pair = warp.shfl(Pair{t * 0.5, t}, 3);
    wrong += pair.place != t / 32 * 32 + 3 || pair.value != pair.place * 0.5;
    if (t % 3 == 0) {
        const auto together = cg::coalesced_threads();
        const unsigned expected = t / 32 == 2 ? 10 : 11;
        wrong += together.size() != expected;
        wrong += cg::reduce(together, 1, cg::plus<int>()) != int(expected);
        wrong += together.shfl(t, 0) != t / 32 * 32 + (3 - t / 32 * 32 % 3) % 3;
    }
    cg::thread_group dynamic = cg::tiled_partition(block, 8);
    wrong += dynamic.size() != 8 || dynamic.thread_rank() != unsigned(t % 8);
    dynamic.sync();
    cg::sync(block);
    out[t] = wrong;
}

void test_switches_before_compare_and_swap() {
    int* counts = on_device(std::vector<int>(2, 0));
    swap_kernel<<<2, 256>>>(counts);
    const auto found = from_device(counts, 2);
    CHECK_EQUAL(found[0], 512);
    CHECK(found[1] > 0 && found[1] < 512);
}

void test_groups() {
    int* out = on_device(std::vector<int>(256, -1));
    groups_kernel<<<2, 96>>>(out);
    for (int wrong : from_device(out, 96)) CHECK_EQUAL(wrong, 0);
}

int main(int count, char** arguments) {
    use_arguments(count, arguments);
    test_launches();
    test_shared_memory();
    test_barriers();
    test_warp_functions();
    test_random_branches();
    test_atomics();
    test_switches_before_compare_and_swap();
    test_groups();
    test_special_registers();
    return wrong_checks != 0;
}
