// A pipeline of one thread with several stages in flight: each wait is for the oldest.
#include <cstdio>
#include <cuda/pipeline>

constexpr int threads = 64, stages = 3, tile_count = 12;

__global__ void kernel(const int* x, int* sum) {
    __shared__ int tiles[stages][threads];
    auto pipe = cuda::make_pipeline();
    for (int i = 0, next = 0; i < tile_count; ++i) {
        for (; next < tile_count && next < i + stages; ++next) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tiles[next % stages][threadIdx.x], &x[next * threads + threadIdx.x], 4, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        atomicAdd(sum, tiles[i % stages][threadIdx.x]);
        pipe.consumer_release();
    }
    if (!pipe.quit()) atomicAdd(sum, 1);
}

int main() {
    constexpr int n = threads * tile_count;
    int *x, *sum, values[n], result = 0;
    for (int& value : values) value = 1;
    cudaMalloc(&x, sizeof values);
    cudaMalloc(&sum, sizeof(int));
    cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
    cudaMemset(sum, 0, sizeof(int));
    kernel<<<2, threads>>>(x, sum);
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(sum);
    std::puts(result == 2 * n ? "ok" : "wrong");
}
