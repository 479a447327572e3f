// A thread resets totals, tickets, flags and counters by plain stores after a fence and a ticket or a flag have shown
// that no other thread still uses them.
#include <cstdio>
#include <cuda/atomic>

__device__ unsigned tickets, more_tickets, ordered_tickets, flags[8], count;
__device__ unsigned long long wide_total, wide_tickets;
__device__ int bins[32], more_bins[32], total, first_flag, second_flag;
__device__ volatile unsigned sense;

/// Each thread executes a fence, and the threads that reset the bins are not those that added to them.
__global__ void bins_kernel(int* out) {
    __shared__ bool last;
    atomicAdd(&bins[threadIdx.x], 1);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    out[threadIdx.x] = bins[31 - threadIdx.x];
    bins[31 - threadIdx.x] = 0;
}

/// Only thread 0 executes fences, after the block's barrier; thread 5 resets the ticket.
__global__ void fence_of_one_kernel(int* out) {
    __shared__ bool last;
    atomicAdd(&more_bins[threadIdx.x], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&more_tickets, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    out[threadIdx.x] = more_bins[31 - threadIdx.x];
    more_bins[31 - threadIdx.x] = 0;
    if (threadIdx.x == 5) more_tickets = 0;
}

__global__ void wide_kernel(int* out) {
    if (threadIdx.x > 0) return;
    atomicAdd(&wide_total, 1ull);
    __threadfence();
    if (atomicAdd(&wide_tickets, 1ull) < gridDim.x - 1) return;
    out[0] = wide_total;
    wide_total = wide_tickets = 0;
}

__global__ void ordered_kernel(int* out) {
    if (threadIdx.x > 0) return;
    atomicAdd(&total, 1);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(ordered_tickets);
    if (ticket.fetch_add(1, cuda::memory_order_acq_rel) < gridDim.x - 1) return;
    out[0] = total;
    total = 0;
    ordered_tickets = 0;
}

__global__ void block_kernel(int* out) {
    __shared__ int most, arrived;
    if (threadIdx.x == 0) most = arrived = 0;
    __syncthreads();
    atomicMax(&most, int(threadIdx.x));
    __threadfence_block();
    if (atomicAdd(&arrived, 1) < blockDim.x - 1) return;
    __threadfence_block();
    out[0] = most;
    most = arrived = 0;
}

/// Each block waits for the flag of the block before it and sets its own; the last block resets all of them.
__global__ void chain_kernel(int* out, bool backward) {
    if (threadIdx.x > 0) return;
    const unsigned turn = backward ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    while (turn > 0 && atomicAdd(&flags[turn - 1], 0) == 0) {
    }
    __threadfence();
    if (turn < gridDim.x - 1) {
        atomicExch(&flags[turn], 1u);
        return;
    }
    out[0] = flags[0] + flags[turn - 1];
    for (unsigned i = 0; i < turn; ++i) flags[i] = 0;
}

/// Two flags after one fence.
__global__ void two_flags_kernel(int* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        __threadfence();
        atomicExch(&first_flag, 1);
        atomicExch(&second_flag, 1);
    } else {
        while (atomicAdd(&first_flag, 0) == 0 || atomicAdd(&second_flag, 0) == 0) {
        }
        __threadfence();
        out[0] = first_flag + second_flag;
        first_flag = second_flag = 0;
    }
}

/// A barrier written by hand, whose counter the last block resets.
__global__ void barrier_kernel(int* parts, int* out) {
    if (threadIdx.x > 0) return;
    for (int round = 0; round < 4; ++round) {
        if (round % 2 == 0) parts[blockIdx.x] = round;
        const unsigned before = sense;
        __threadfence();
        if (atomicAdd(&count, 1) == gridDim.x - 1) {
            count = 0;
            __threadfence();
            sense = before + 1;
        } else {
            while (sense == before) {
            }
        }
        __threadfence();
        if (round % 2 == 0 && blockIdx.x == 0) out[0] = parts[gridDim.x - 1];
    }
}

int main() {
    int *out, *parts, blocks = 8, host[256];
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&parts, blocks * sizeof(int));
    cudaMemset(out, 0, sizeof host);
    const bool backward = getenv("BACKWARD") != nullptr;
    int* at[] = {out + 64, out + 65, out + 66, out + 67, out + 68, out + 69};
    void *flags_arguments[] = {&at[3], const_cast<bool*>(&backward)}, *two_arguments[] = {&at[4]};
    void* barrier_arguments[] = {&parts, &at[5]};
    for (int launch = 0; launch < 2; ++launch) {
        bins_kernel<<<blocks, 32>>>(out);
        fence_of_one_kernel<<<blocks, 32>>>(out + 32);
        wide_kernel<<<blocks, 32>>>(at[0]);
        ordered_kernel<<<blocks, 32>>>(at[1]);
        block_kernel<<<1, 64>>>(at[2]);
        cudaLaunchCooperativeKernel(reinterpret_cast<void*>(chain_kernel), blocks, 32, flags_arguments, 0, nullptr);
        cudaLaunchCooperativeKernel(reinterpret_cast<void*>(two_flags_kernel), 2, 32, two_arguments, 0, nullptr);
        cudaLaunchCooperativeKernel(reinterpret_cast<void*>(barrier_kernel), blocks, 32, barrier_arguments, 0, nullptr);
    }
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(parts);
    bool right = host[64] == 8 && host[65] == 8 && host[66] == 63 && host[67] == 2 && host[68] == 2 && host[69] == 2;
    for (int i = 0; i < 64; ++i) right = right && host[i] == 8;
    std::puts(right ? "ok" : "wrong");
}
