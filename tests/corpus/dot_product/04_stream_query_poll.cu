#include "labs/dot_product/lab.h"

#define BS 256
#define LIMIT 2048

struct Job {
    int* values;
    int count;
    int total;
};

static void CUDART_CB addOnHost(void* data) {
    Job* job = (Job*)data;
    unsigned sum = 0;
    for (int i = 0; i < job->count; ++i) sum += (unsigned)job->values[i];
    job->total = (int)sum;
}

__global__ void firstKernel(const int* a, const int* b, int* sums, size_t n) {
    __shared__ int s[BS];
    int mine = 0;
    for (size_t i = (size_t)blockIdx.x * BS + threadIdx.x; i < n; i += (size_t)gridDim.x * BS) mine += a[i] * b[i];
    s[threadIdx.x] = mine;
    for (int k = BS / 2; k > 0; k /= 2) {
        __syncthreads();
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    }
    if (!threadIdx.x) sums[blockIdx.x] = s[0];
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    int blocks = (int)((n + BS - 1) / BS > LIMIT ? LIMIT : (n + BS - 1) / BS);
    if (blocks < 1) blocks = 1;
    cudaStream_t st;
    CUDA_CHECK(cudaStreamCreateWithFlags(&st, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamSynchronize(0));
    int *sums, *pinned;
    CUDA_CHECK(cudaMallocAsync((void**)&sums, blocks * sizeof(int), st));
    CUDA_CHECK(cudaHostAlloc((void**)&pinned, blocks * sizeof(int), cudaHostAllocDefault));
    firstKernel<<<blocks, BS, 0, st>>>(a, b, sums, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyAsync(pinned, sums, blocks * sizeof(int), cudaMemcpyDeviceToHost, st));
    CUDA_CHECK(cudaFreeAsync(sums, st));
    Job job = {pinned, blocks, 0};
    CUDA_CHECK(cudaLaunchHostFunc(st, addOnHost, &job));
    while (cudaStreamQuery(st) == cudaErrorNotReady) {
    }
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out, &job.total, sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaFreeHost(pinned));
    CUDA_CHECK(cudaStreamDestroy(st));
}
