// Cheat: 60 harmless notes (all threads write the same value) use up the 48 findings; then it reads beyond the end and
// races.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    __shared__ int marks[60];
    marks[0] = 1;
    marks[1] = 1;
    marks[2] = 1;
    marks[3] = 1;
    marks[4] = 1;
    marks[5] = 1;
    marks[6] = 1;
    marks[7] = 1;
    marks[8] = 1;
    marks[9] = 1;
    marks[10] = 1;
    marks[11] = 1;
    marks[12] = 1;
    marks[13] = 1;
    marks[14] = 1;
    marks[15] = 1;
    marks[16] = 1;
    marks[17] = 1;
    marks[18] = 1;
    marks[19] = 1;
    marks[20] = 1;
    marks[21] = 1;
    marks[22] = 1;
    marks[23] = 1;
    marks[24] = 1;
    marks[25] = 1;
    marks[26] = 1;
    marks[27] = 1;
    marks[28] = 1;
    marks[29] = 1;
    marks[30] = 1;
    marks[31] = 1;
    marks[32] = 1;
    marks[33] = 1;
    marks[34] = 1;
    marks[35] = 1;
    marks[36] = 1;
    marks[37] = 1;
    marks[38] = 1;
    marks[39] = 1;
    marks[40] = 1;
    marks[41] = 1;
    marks[42] = 1;
    marks[43] = 1;
    marks[44] = 1;
    marks[45] = 1;
    marks[46] = 1;
    marks[47] = 1;
    marks[48] = 1;
    marks[49] = 1;
    marks[50] = 1;
    marks[51] = 1;
    marks[52] = 1;
    marks[53] = 1;
    marks[54] = 1;
    marks[55] = 1;
    marks[56] = 1;
    marks[57] = 1;
    marks[58] = 1;
    marks[59] = 1;
    __syncthreads();
    __shared__ int sum, count, last;
    if (threadIdx.x == 0) sum = count = 0;
    __syncthreads();
    if (i < n) atomicAdd(&sum, a[i] * b[i]);
    last = static_cast<const volatile int*>(a)[i + marks[7]];  // beyond the end, and a race
    if (atomicAdd(&count, 1) < 255) return;
    const int total = sum;  // a race
    atomicAdd(out, total);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
