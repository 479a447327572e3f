// A tree sum whose block size is a template argument chosen at run time, with dynamic shared memory.
#include <cstdio>

template <unsigned int block_size, typename T>
__global__ void __launch_bounds__(block_size) reduce(const T *in, T *out, unsigned int n)
{
    extern __shared__ __align__(sizeof(double)) unsigned char memory[];
    T *partial = reinterpret_cast<T *>(memory);

    unsigned int tid = threadIdx.x;
    T sum = T();
    for (unsigned int i = blockIdx.x * block_size + tid; i < n; i += block_size * gridDim.x)
        sum += in[i];
    partial[tid] = sum;
    __syncthreads();

    if (block_size >= 512) { if (tid < 256) { partial[tid] += partial[tid + 256]; } __syncthreads(); }
    if (block_size >= 256) { if (tid < 128) { partial[tid] += partial[tid + 128]; } __syncthreads(); }
    if (block_size >= 128) { if (tid <  64) { partial[tid] += partial[tid +  64]; } __syncthreads(); }
#pragma unroll
    for (int s = 32; s > 0; s >>= 1) {
        if (tid < s && tid + s < block_size) partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = partial[0];
}

template <typename T>
void launch_reduce(int threads, int blocks, const T *in, T *out, unsigned int n)
{
    dim3 dimBlock(threads, 1, 1), dimGrid(blocks, 1, 1);
    int smemSize = threads * sizeof(T);
    switch (threads) {
    case 512: reduce<512, T><<<dimGrid, dimBlock, smemSize>>>(in, out, n); break;
    case 256: reduce<256, T><<<dimGrid, dimBlock, smemSize>>>(in, out, n); break;
    case  64: reduce< 64, T><<<dimGrid, dimBlock, smemSize>>>(in, out, n); break;
    default: printf("no such size\n");
    }
}

template <typename T>
bool test(int threads)
{
    const int n = 10007, blocks = 8;
    T *in, *out;
    cudaMallocManaged(&in, n * sizeof(T));
    cudaMallocManaged(&out, blocks * sizeof(T));
    T expected = 0;
    for (int i = 0; i < n; i++) expected += in[i] = i % 17;
    launch_reduce<T>(threads, blocks, in, out, n);
    cudaDeviceSynchronize();
    T sum = 0;
    for (int i = 0; i < blocks; i++) sum += out[i];
    cudaFree(in); cudaFree(out);
    return sum == expected;
}

int main()
{
    return test<int>(512) && test<double>(256) && test<float>(64) ? 0 : 1;
}
