// Macros that hide qualifiers, launches and whole kernels.
#include <cstring>

#define KERNEL __global__ void
#define DEVICE __device__ __forceinline__
#define SHARED __shared__
#define DYNAMIC_SHARED extern __shared__
#define CONFIGURATION 1, 32
#define LAUNCH(name, blocks, threads, ...) name##_kernel<<<blocks, threads>>>(__VA_ARGS__)
#define LAUNCH_ALL(kernel)   \
    do {                     \
        kernel<<<2, 32>>>    \
            (data, 64);      \
    } while (0)
#define ON_DEVICE(...) __VA_ARGS__<<<CONFIGURATION>>>
#define SCRATCH(type, name) __shared__ type name[32]
#define BINARY_KERNEL(name, type, op)                            \
    __global__ void name##_kernel(type* a, const type* b) {      \
        __shared__ type copy_##name[32];                         \
        copy_##name[threadIdx.x] = b[threadIdx.x];               \
        a[threadIdx.x] = a[threadIdx.x] op copy_##name[threadIdx.x]; \
    }
#define UNARY_KERNEL(name) __global__ void name##_kernel(int* a)

BINARY_KERNEL(plus, int, +)
BINARY_KERNEL(times, int, *)

UNARY_KERNEL(negate) { a[threadIdx.x] = -a[threadIdx.x]; }

DEVICE int twice(int x) { return 2 * x; }

KERNEL fill(int* data, int n) {
    SHARED int offset;
    if (threadIdx.x == 0) offset = blockIdx.x * blockDim.x;
    __syncthreads();
    int i = offset + threadIdx.x;
    if (i < n) data[i] = i;
}

KERNEL shift(int* data) {
    DYNAMIC_SHARED int buffer[];
    SCRATCH(int, first);
    SCRATCH(int, second);
    SCRATCH(int, third);
    const int t = threadIdx.x;
    third[t] = second[t] = first[t] = buffer[t] = twice(data[t]);
    __syncthreads();
    data[t] = (buffer[(t + 1) % 32] + first[(t + 1) % 32] + second[(t + 1) % 32] - third[(t + 1) % 32]) / 2;
}

int main() {
    int* data;
    cudaMallocManaged(&data, 64 * sizeof(int));
    LAUNCH_ALL(fill);
    shift<<<1, 32, 32 * sizeof(int)>>>(data);
    if (data)
        LAUNCH(plus, 1, 32, data, data + 32);
    else
        LAUNCH(times, 1, 32, data, data + 32);
    LAUNCH(negate, 1, 32, data);
    ON_DEVICE(times_kernel)(data, data + 32);
    cudaDeviceSynchronize();
    for (int t = 0; t < 32; ++t) {
        if (data[t] != -(2 * ((t + 1) % 32) + t + 32) * (t + 32)) return 1;
    }
    return 0;
}
