// In a pipeline of one thread with two stages in flight, consumer_wait() waits for the older stage only.
#include <cuda/pipeline>

__global__ void younger_kernel(const int* x, int* y) {
    __shared__ int a[64], b[64];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&a[threadIdx.x], &x[threadIdx.x], sizeof(int), pipe);
    pipe.producer_commit();
    pipe.producer_acquire();
    cuda::memcpy_async(&b[threadIdx.x], &x[threadIdx.x], sizeof(int), pipe);  //! unfinished
    pipe.producer_commit();
    pipe.consumer_wait();
    y[threadIdx.x] = a[threadIdx.x];
    y[threadIdx.x] += b[threadIdx.x];  //! unfinished
    pipe.consumer_release();
    pipe.consumer_wait();
    y[threadIdx.x] += b[threadIdx.x];
    pipe.consumer_release();
}

__global__ void uncommitted_kernel(const int* x, int* y) {
    __shared__ int a[64];
    auto pipe = cuda::make_pipeline();
    cuda::memcpy_async(&a[threadIdx.x], &x[threadIdx.x], sizeof(int), pipe);  //! unfinished
    pipe.consumer_wait();
    y[threadIdx.x] = a[threadIdx.x];  //! unfinished
    pipe.producer_commit();
    pipe.consumer_wait();
}

__global__ void after_prior_kernel(const int* x, int* y) {
    __shared__ int tiles[3][64];
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < 3; ++i) {
        cuda::memcpy_async(&tiles[i][threadIdx.x], &x[threadIdx.x], sizeof(int), pipe);  //! unfinished
        pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<2>(pipe);
    y[threadIdx.x] = tiles[0][threadIdx.x];
    pipe.consumer_wait();
    y[threadIdx.x] += tiles[1][threadIdx.x];
    y[threadIdx.x] += tiles[2][threadIdx.x];  //! unfinished
    pipe.consumer_wait();
    y[threadIdx.x] += tiles[2][threadIdx.x];
}

int main() {
    int *x, *y;
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMalloc(&y, 64 * sizeof(int));
    cudaMemset(x, 0, 64 * sizeof(int));
    younger_kernel<<<1, 64>>>(x, y);
    uncommitted_kernel<<<1, 64>>>(x, y);
    after_prior_kernel<<<1, 64>>>(x, y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
