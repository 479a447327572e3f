// Idioms that only nvcc accepts, and macros around launches.
#include <cuComplex.h>
#include <cstdio>
#include <math_functions.h>
#include <sm_20_intrinsics.h>

#define KERNEL_ARGS(grid, block) <<<grid, block>>>
#define LAUNCH(kernel, grid, block, arguments) kernel<<<grid, block>>> arguments

template <int N>
__global__ void scale(float* x, int how) {
    __builtin_assume(blockDim.x == 64);
    cudaGridDependencySynchronize();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    switch (how) {
        case 0:
            __shared__ float tile[64];
            tile[threadIdx.x] = x[i];
            __syncthreads();
            x[i] = tile[63 - threadIdx.x] * N;
            break;
        default:
            x[i] *= N;
    }
    cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void rotate(cuFloatComplex* z) {
    z[threadIdx.x] = cuCmulf(z[threadIdx.x], make_cuComplex(0, 1));
    z[threadIdx.x] = cuCdivf(z[threadIdx.x], make_cuFloatComplex(2, 0));
}

int main() {
    float* x;
    float host[128];
    for (int i = 0; i < 128; ++i) host[i] = i;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    scale<2> KERNEL_ARGS(2, 64)(x, 0);
    LAUNCH((scale<3>), 2, 64, (x, 1));
    rotate KERNEL_ARGS(1, 64)(reinterpret_cast<cuFloatComplex*>(x));
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    puts(host[0] == -186 && host[1] == 189 && host[127] == 195 ? "ok" : "wrong");
}
