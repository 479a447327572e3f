// Lanes beyond the end do not take part in the shuffle that reads their values.
#include <cuda_runtime.h>

__global__ void sum_kernel(const int* values, int* sum, int n) {
    int i = threadIdx.x;
    if (i < n) {
        int v = values[i];
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);  //! absent_lane
        if (i == 0) *sum = v;
    }
}

int main() {
    int *values, *sum;
    cudaMalloc(&values, 20 * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(values, 0, 20 * sizeof(int));
    sum_kernel<<<1, 32>>>(values, sum, 20);
    return cudaDeviceSynchronize() != cudaSuccess;
}
