// Kernels read parts of a large scratch buffer that nobody has written: right after a fill that ends within a word, and
// far away.
#include <cuda_runtime.h>

constexpr std::size_t bytes = std::size_t{100} << 20, filled = (std::size_t{50} << 20) + 2;

__global__ void read_kernel(const char* bytes, std::size_t i, int* out) {
    const char first = bytes[i];
    const char next = bytes[i + 1];  //! uninitialised
    out[0] = first + next;
}

__global__ void far_kernel(const int* values, int* out) {
    out[1] = values[threadIdx.x];  //! uninitialised
}

int main() {
    char* scratch;
    int* out;
    cudaMalloc(&scratch, bytes);
    cudaMalloc(&out, 2 * sizeof(int));
    cudaMemset(scratch + 1, 0, filled);
    read_kernel<<<1, 1>>>(scratch, filled, out);
    far_kernel<<<1, 1>>>(reinterpret_cast<int*>(scratch + (std::size_t{90} << 20)), out);
    cudaFree(scratch);
    cudaFree(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
