// Chunks of one vector on several streams, a grid-stride loop, pinned memory.
#include <algorithm>

#define CUDA_OK(x) (((x) == cudaSuccess) || (++failures, false))
static int failures;

__global__
void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x;
         i < n;
         i += blockDim.x * gridDim.x)
    {
        y[i] = a * x[i] + y[i];
    }
}

int main()
{
    const int N = 1 << 12, n_streams = 4;
    const int chunk = N / n_streams;
    float *x, *y, *d_x, *d_y;
    CUDA_OK(cudaMallocHost(&x, N * sizeof(float)));
    CUDA_OK(cudaMallocHost(&y, N * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_x, N * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_y, N * sizeof(float)));
    std::fill(x, x + N, 1.0f);
    std::fill(y, y + N, 2.0f);
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaStream_t streams[n_streams];
    for (auto &stream : streams) CUDA_OK(cudaStreamCreate(&stream));
    for (int s = 0; s < n_streams; ++s) {
        const int at = s * chunk;
        CUDA_OK(cudaMemcpyAsync(d_x + at, x + at, chunk * sizeof(float), cudaMemcpyHostToDevice, streams[s]));
        CUDA_OK(cudaMemcpyAsync(d_y + at, y + at, chunk * sizeof(float), cudaMemcpyHostToDevice, streams[s]));
        saxpy<<<2 * multiprocessors, 128, 0, streams[s]>>>(chunk, 2.0f, d_x + at, d_y + at);
        CUDA_OK(cudaMemcpyAsync(y + at, d_y + at, chunk * sizeof(float), cudaMemcpyDeviceToHost, streams[s]));
    }
    for (auto stream : streams) {
        CUDA_OK(cudaStreamSynchronize(stream));
        CUDA_OK(cudaStreamDestroy(stream));
    }
    float maxError = 0.0f;
    for (int i = 0; i < N; i++) maxError = std::max(maxError, std::abs(y[i] - 4.0f));
    cudaFreeHost(x); cudaFreeHost(y);
    return failures || maxError > 0 ? 1 : 0;
}
