// Prints the processor time of kernels that do little but access memory, in ns per access (see access_cost.py).
#include <cuda_runtime.h>

#include <cstdio>
#include <ctime>

constexpr int blocks = 64, threads = 256, rounds = 64, n = 1 << 20;

__global__ void same_kernel(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) out[i] = in[i] + r;
}

__global__ void stream_kernel(const int* in, int* out) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}

__global__ void shared_kernel(int* out) {
    __shared__ int values[threads];
    int t = threadIdx.x, sum = 0;
    values[t] = t;
    __syncthreads();
    for (int r = 0; r < rounds; r++) sum += values[(t + r) % threads];
    out[blockIdx.x * threads + t] = sum;
}

__global__ void atomic_kernel(unsigned* bins) {
    for (int r = 0; r < rounds; r++) atomicAdd(&bins[(threadIdx.x * 7 + r) % 256], 1u);
}

double processor_s() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

template <class Launch>
void measure(const char* what, double accesses, Launch launch) {
    double min_s = 1e9;
    for (int i = 0; i < 5; i++) {
        double begin_s = processor_s();
        launch();
        double s = processor_s() - begin_s;
        if (s < min_s) min_s = s;
    }
    printf("%-22s %5.1f ns\n", what, min_s * 1e9 / accesses);
}

int main() {
    int *in, *out;
    unsigned* bins;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&bins, 256 * sizeof(unsigned));
    cudaMemset(in, 0, n * sizeof(int));
    cudaMemset(bins, 0, 256 * sizeof(unsigned));
    const double all = double(blocks) * threads * rounds;
    measure("device, same place", 2 * all, [&] { same_kernel<<<blocks, threads>>>(in, out); });
    measure("device, one by one", 2.0 * n, [&] { stream_kernel<<<blocks, threads>>>(in, out); });
    measure("shared", all, [&] { shared_kernel<<<blocks, threads>>>(out); });
    measure("atomics", all, [&] { atomic_kernel<<<blocks, threads>>>(bins); });
    return 0;
}
