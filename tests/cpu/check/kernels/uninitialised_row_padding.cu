// Kernels use the padding of rows: elements and vectors after the end of each row.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* in, float* sum, int pitch_in_elements) {
    const float* row = in + threadIdx.x * pitch_in_elements;
    sum[threadIdx.x] = row[60] + reinterpret_cast<const float4*>(row)[15].x;
    sum[threadIdx.x] += row[61];                                     //! uninitialised
    sum[threadIdx.x] += reinterpret_cast<const float4*>(row)[16].x;  //! uninitialised
}

int main() {
    float host[3][61] = {}, *in, *sum;
    size_t pitch;
    cudaMallocPitch(&in, &pitch, sizeof host[0], 3);
    cudaMalloc(&sum, 3 * sizeof(float));
    cudaMemcpy2D(in, pitch, host, sizeof host[0], sizeof host[0], 3, cudaMemcpyHostToDevice);
    sum_kernel<<<1, 3>>>(in, sum, pitch / sizeof(float));
    return cudaDeviceSynchronize() != cudaSuccess;
}
