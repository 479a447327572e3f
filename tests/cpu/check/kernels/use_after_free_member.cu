// A struct of two arrays: one of them is freed.
#include <cuda_runtime.h>

struct Points {
    float *x, *y;
};

__global__ void move_kernel(Points points) {
    points.x[threadIdx.x] = 1;
    points.y[threadIdx.x] = 2;  //! use_after_free
}

int main() {
    Points points;
    cudaMalloc(&points.x, 32 * sizeof(float));
    cudaMalloc(&points.y, 32 * sizeof(float));
    cudaFree(points.y);
    move_kernel<<<1, 32>>>(points);
    return cudaDeviceSynchronize() != cudaSuccess;
}
