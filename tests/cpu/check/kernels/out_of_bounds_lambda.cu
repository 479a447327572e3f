// A lambda that is passed to a kernel reads before the beginning, and so does an object with operator().
#include <cuda_runtime.h>

struct Shifted {
    const float* values;
    int shift;
    __device__ float operator()(int i) const {
        return values[i + shift];  //! out_of_bounds
    }
};

template <class Function>
__global__ void fill_kernel(float* out, Function function) {
    out[threadIdx.x] = function(threadIdx.x);
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 64 * sizeof(float));
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMemset(in, 0, 64 * sizeof(float));
    fill_kernel<<<1, 64>>>(out, Shifted{in, 0});
    fill_kernel<<<1, 64>>>(out, Shifted{in, -1});
    fill_kernel<<<1, 64>>>(out, [=] __device__(int i) {
        return in[i - 2];  //! out_of_bounds
    });
    return cudaDeviceSynchronize() != cudaSuccess;
}
