// An index from a constexpr function is one row beyond the matrix.
#include <cuda_runtime.h>

constexpr int columns = 8;
__host__ __device__ constexpr int index_of(int row, int column) { return row * columns + column; }

__global__ void shift_kernel(const int* in, int* out) {
    int value = in[index_of(threadIdx.y + 1, threadIdx.x)];  //! out_of_bounds
    out[index_of(threadIdx.y, threadIdx.x)] = value;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, index_of(8, 0) * sizeof(int));
    cudaMalloc(&out, index_of(8, 0) * sizeof(int));
    cudaMemset(in, 0, index_of(8, 0) * sizeof(int));
    shift_kernel<<<1, dim3(8, 8)>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
