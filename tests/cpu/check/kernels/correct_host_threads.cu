// Host threads launch kernels with their own streams: one after the other, then four at once.
#include <cstdio>
#include <thread>
#include <vector>

__global__ void sum_kernel(const int* x, int* out, int n) {
    __shared__ int values[64];
    int local[4] = {};
    const int i = blockIdx.x * 64 + threadIdx.x;
    local[threadIdx.x % 4] = i < n ? x[i] : 0;
    values[threadIdx.x] = local[threadIdx.x % 4];
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int k = 0; k < 64; ++k) sum += values[k];
        atomicAdd(out, sum);
    }
}

void add_part(const int* x, int* out, int n) {
    cudaStream_t stream;
    int* copy;
    cudaStreamCreate(&stream);
    cudaMalloc(&copy, n * sizeof(int));
    cudaMemcpyAsync(copy, x, n * sizeof(int), cudaMemcpyDeviceToDevice, stream);
    sum_kernel<<<(n + 63) / 64, 64, 0, stream>>>(copy, out, n);
    cudaStreamSynchronize(stream);
    cudaFree(copy);
    cudaStreamDestroy(stream);
}

int main() {
    constexpr int n = 1000, part = n / 4;
    int *x, *out, result = 0;
    std::vector<int> ones(n, 1);
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(x, ones.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(int));
    cudaDeviceSynchronize();
    for (int i = 0; i < 4; ++i) std::thread([=] { add_part(x + i * part, out, part); }).join();
    add_part(x, out, n);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([=] { add_part(x + i * part, out, part); });
    for (std::thread& thread : threads) thread.join();
    cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(out);
    std::puts(result == 3 * n ? "ok" : "wrong");
}
