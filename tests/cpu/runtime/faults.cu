// Programs that the runtime must stop, and similar programs that must end normally. Arguments: a program's name, and
// the file of a status page.

#include <cooperative_groups.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "grader/cpu/control.h"

__global__ void overrun_kernel(int* out) {
    const int beyond = blockIdx.x == 5 && threadIdx.x == 7 ? 512 : 0;
    out[blockIdx.x * 64 + threadIdx.x + beyond] = 1;
}
__global__ void null_kernel(int* out) {
    __syncthreads();
    if (threadIdx.x == 3) out[0] = 1;
}
__device__ __noinline__ int dive(int n, volatile char* above) {
    volatile char here[1024];
    here[n % 1024] = above[n % 1024] + 1;
    return n > 100000000 ? here[0] : dive(n + 1, here) + here[1];
}
__global__ void dive_kernel(int* out) {
    volatile char bottom[1024] = {};
    *out = dive(0, bottom);
}
__global__ void dive_in_fiber_kernel(int* out) {
    volatile char bottom[1024] = {};
    __syncthreads();
    if (threadIdx.x == 40) *out = dive(0, bottom);
}
__global__ void divide_kernel(int* out, int by) { out[threadIdx.x] = 100 / (by - int(threadIdx.x)); }
__global__ void assert_kernel(int n) { assert(int(threadIdx.x) < n); }
__global__ void trap_kernel() {
    if (threadIdx.x == 9) __trap();
}
__global__ void half_barrier_kernel(int* out) {
    if (threadIdx.x < 96) __syncthreads();
    else if (threadIdx.x < 128) return;
    else if (threadIdx.x % 32 != 5) __syncwarp();
    else __syncthreads();
}
__global__ void lost_lane_kernel(int* out) {
    if (threadIdx.x != 5) __shfl_sync(0xffffffff, 1, 0);
    else
        __syncthreads();
}
__global__ void foreign_mask_kernel(int* out) { *out = __shfl_sync(0x2, 1, 1); }
// The rewriter refuses host code that it recognises in device code; these definitions hide such code.
using Text = std::string;
#define THROW_TEXT throw Text("no")
__global__ void exit_kernel() {
    if (threadIdx.x == 1) ::exit(3);
}
__global__ void throw_kernel() {
    if (threadIdx.x == 1) THROW_TEXT;
}
__device__ float* half_of_shared() {
    __shared__ float half[6 * 1024];
    return half;
}
__global__ void much_shared_kernel(int* out) {
    __shared__ float first[4 * 1024], second[2 * 1024 + 1];
    first[0] = second[1] = half_of_shared()[2] = 0;
    *out = 1;
}
__global__ void some_shared_kernel(int* out) {
    __shared__ float some[4 * 1024];
    some[0] = 1;
    *out = 1;
}
__global__ void plain_kernel(int* out) { *out = 1; }
__global__ void touch_kernel(int* out) { out[threadIdx.x << 14] = 1; }
__host__ __device__ void launch_plain(int* out) { plain_kernel<<<1, 1>>>(out); }
__global__ void nesting_kernel(int* out) { launch_plain(out); }
void no_kernel(int*) {}
__global__ void spin_kernel(int* out) {
    __shared__ int flag;
    flag = 0;
    __syncthreads();
    if (threadIdx.x < 10) while (atomicCAS(&flag, 1, 2) != 1) {}
    __syncthreads();
}

__device__ int door, lock_word;
__global__ void later_block_kernel(int*) {
    if (blockIdx.x + 1 == gridDim.x) atomicExch(&door, 1);
    while (atomicAdd(&door, 0) == 0) __threadfence();
}
__global__ void kept_lock_kernel(int* out) {
    while (atomicCAS(&lock_word, 0, 1) != 0) {}
    out[0] += 1;
    if (threadIdx.x != 3) atomicExch(&lock_word, 0);
}
__global__ void lone_spin_kernel(int* out) {
    while (atomicCAS(out, 1, 2) != 1) {}
}

/// Two blocks pass a flag back and forth: between two polls, only counters in a thread's registers may change.
__device__ unsigned mail;
__global__ void mail_kernel(int* out, int letters) {
    if (threadIdx.x) return;
    int sum = 0;
    for (int i = 0; i < letters; ++i) {
        while (atomicCAS(&mail, blockIdx.x, 1 - blockIdx.x) != blockIdx.x) {}
        sum += i & 1;
    }
    out[blockIdx.x] = sum;
}

/// Wait for a host thread.
__global__ void doorbell_kernel(int* bell, int* out) {
    while (atomicAdd(bell, 0) == 0) {}
    *out = 1;
}

__global__ void grid_sync_kernel(int last) {
    if (blockIdx.x < last) cooperative_groups::this_grid().sync();
}

static int* device(size_t count) {
    int* memory = nullptr;
    cudaMalloc(&memory, count * sizeof(int));
    cudaMemset(memory, 0, count * sizeof(int));
    return memory;
}

static warplab::StatusPage* page = nullptr;

constexpr size_t host_bytes = 8192;

/// Return a host buffer like the runner's, and hide device memory, as the runner does.
static int* host_buffer() {
    void* memory = mmap(nullptr, host_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    warplab::cpu::begin_host_buffer(memory, host_bytes, memory, host_bytes);
    warplab::cpu::hide_device_memory(true);
    return static_cast<int*>(memory);
}

static const std::map<std::string, std::function<void()>> programs = {
    {"overrun", [] { overrun_kernel<<<8, 64>>>(device(512)); }},
    {"kept_overrun", [] {
        int* const memory = device(512);
        ++page->calls;
        overrun_kernel<<<8, 64>>>(memory);
    }},
    {"null", [] { null_kernel<<<2, 64>>>(nullptr); }},
    {"host_null", [] { *static_cast<volatile int*>(nullptr) = 1; }},
    {"host_writes_device", [] {
        int* memory = device(64);
        warplab::cpu::hide_device_memory(true);
        memory[3] = 1;
    }},
    {"host_writes_device_after_many_launches", [] {
        int* memory = device(64);
        warplab::cpu::hide_device_memory(true);
        for (int i = 0; i < 1000; ++i) plain_kernel<<<1, 1>>>(memory);
        cudaDeviceSynchronize();
        memory[3] = 1;
    }},
    {"copies_after_many_launches", [] {
        constexpr int pieces = 16;  // so many accesses that the runtime makes all of the memory visible
        int *memory = device(pieces << 14), value = 0;
        warplab::cpu::hide_device_memory(true);
        for (int i = 0; i < 1000; ++i) {
            touch_kernel<<<1, pieces>>>(memory);
            if (i % 300 == 299) cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost);
        }
        if (value != 1) plain_kernel<<<1, 1>>>(nullptr);
    }},
    {"free_device", [] {
        int* memory = device(4096);
        warplab::cpu::hide_device_memory(true);
        free(memory);
        device(1);  // no tail call, as below
    }},
    {"c_library_reads_device", [] {
        int* memory = device(64);
        warplab::cpu::hide_device_memory(true);
        const volatile size_t length = strlen(reinterpret_cast<const char*>(memory));
        (void)length;
    }},
    {"never_set", [] {
        volatile int* pointer;
        *pointer = 1;
    }},
    {"below_the_stack", [] {
        pthread_attr_t attributes;
        void* lowest = nullptr;
        size_t bytes = 0;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &lowest, &bytes);
        static_cast<volatile char*>(lowest)[-4096] = 1;
    }},
    {"copy_into_null", [] {
        void* volatile low = reinterpret_cast<void*>(16);
        memset(low, 1, 1000);
        device(1);  // no tail call: the fault's caller is this line's
    }},
    {"dive", [] { dive_kernel<<<1, 1>>>(device(1)); }},
    {"dive_in_fiber", [] { dive_in_fiber_kernel<<<1, 64>>>(device(1)); }},
    {"dive_on_host", [] { volatile char bottom[1024] = {}; exit(dive(0, bottom)); }},
    {"divide", [] { divide_kernel<<<1, 32>>>(device(32), 4); }},
    {"assert", [] { assert_kernel<<<1, 32>>>(20); }},
    {"trap", [] { trap_kernel<<<1, 32>>>(); }},
    {"abort", [] { abort(); }},
    {"half_barrier", [] { half_barrier_kernel<<<1, 192>>>(device(1)); }},
    {"lost_lane", [] { lost_lane_kernel<<<1, 32>>>(device(1)); }},
    {"foreign_mask", [] { foreign_mask_kernel<<<1, 1>>>(device(1)); }},
    {"exit", [] { exit(0); }},
    {"exit_in_kernel", [] { exit_kernel<<<1, 32>>>(); }},
    {"throw", [] { throw_kernel<<<1, 32>>>(); }},
    {"much_shared", [] { much_shared_kernel<<<1, 1>>>(device(1)); }},
    {"shared_in_all", [] { some_shared_kernel<<<1, 1, 40000>>>(device(1)); }},
    {"shared_in_all_allowed", [] {
        cudaFuncSetAttribute(some_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000);
        some_shared_kernel<<<1, 1, 40000>>>(device(1));
    }},
    {"nesting", [] { nesting_kernel<<<1, 1>>>(device(1)); }},
    {"no_launch", [] { (plain_kernel)(device(1)); }},
    {"no_kernel",
     [] {
         auto function = no_kernel;
         function<<<1, 1>>>(device(1));
     }},
    {"host_limit", [] {
        int* memory = device(64);
        std::vector<int> host(64);
        warplab::cpu::set_host_limit(100);
        for (int i = 0; i < 10; ++i) cudaMemcpy(host.data() + i * 5, memory, 20, cudaMemcpyDeviceToHost);
    }},
    {"managed_limit", [] {
        int* memory = nullptr;
        cudaMallocManaged(&memory, 4096);
        warplab::cpu::hide_device_memory(true);
        warplab::cpu::set_host_limit(100);
        plain_kernel<<<1, 1>>>(memory);
        exit(memory[0]);
    }},
    {"spin", [] { spin_kernel<<<1, 64>>>(device(1)); }},
    {"later_block", [] { later_block_kernel<<<4096, 64>>>(device(1)); }},
    {"kept_lock", [] { kept_lock_kernel<<<1, 64>>>(device(1)); }},
    {"lone_spin", [] { lone_spin_kernel<<<1, 1>>>(device(1)); }},
    {"hidden_spin",
     [] {
         int* memory = device(1);
         warplab::cpu::hide_device_memory(true);
         lone_spin_kernel<<<1, 1>>>(memory);
     }},
    {"mail",
     [] {
         int* out = device(2);
         int letters = 40'000;
         void* arguments[] = {&out, &letters};
         cudaLaunchCooperativeKernel(mail_kernel, 2, 32, arguments);
         int found[2] = {};
         cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
         if (found[0] != letters / 2 || found[1] != letters / 2) abort();
     }},
    {"kernel_writes_host", [] { plain_kernel<<<1, 1>>>(host_buffer()); }},
    {"kernel_writes_registered_host",
     [] {
         int* memory = host_buffer();
         cudaHostRegister(memory, host_bytes, 0);
         plain_kernel<<<1, 1>>>(memory);
     }},
    {"doorbell",
     [] {
         int* bell;
         cudaMallocHost(&bell, sizeof *bell);
         *bell = 0;
         std::thread ringer([bell, buffer = host_buffer()] {
             std::this_thread::sleep_for(std::chrono::seconds(2));
             *static_cast<volatile int*>(buffer) = 1;  // the host may use its memory while a kernel runs
             *static_cast<volatile int*>(bell) = 1;
         });
         doorbell_kernel<<<1, 1>>>(bell, device(1));
         cudaDeviceSynchronize();
         ringer.join();
     }},
    {"grid_sync_in_plain_launch", [] { grid_sync_kernel<<<2, 64>>>(2); }},
    {"grid_sync_without_all_blocks",
     [] {
         int last = 3;
         void* arguments[] = {&last};
         cudaLaunchCooperativeKernel(grid_sync_kernel, 4, 64, arguments);
     }},
    {"ends", [] {}},
};

int main(int count, char** arguments) {
    if (count != 3) return 64;
    const int file = open(arguments[2], O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, sizeof(warplab::StatusPage)) != 0) return 65;
    void* shared = mmap(nullptr, sizeof(warplab::StatusPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    page = static_cast<warplab::StatusPage*>(shared);
    warplab::cpu::use_status_page(page);
    page->phase = static_cast<std::uint32_t>(warplab::Phase::call);
    programs.at(arguments[1])();
    page->phase = static_cast<std::uint32_t>(warplab::Phase::idle);
    return 0;
}
