// The arguments of a launch behave as in a call: overloads, defaults, conversions, 0, NULL, braces, each evaluated
// once.
#include <stdio.h>

namespace work {
struct Range {
    int begin, end;
};
__global__ void fill(int* out, Range range, int value = 7) {
    for (int i = range.begin + threadIdx.x; i < range.end; i += blockDim.x) out[i] = value;
}
__global__ void fill(float* out, Range range) {
    for (int i = range.begin + threadIdx.x; i < range.end; i += blockDim.x) out[i] = 0.5f;
}
template <class T>
__global__ void both(T* a, T* b, T value, const char* note = "") {
    if (a) *a = value;
    if (b) *b = value + (note[0] == 'x');
}
}  // namespace work

__global__ void countdown(int n, int* out) {
    const int start = n;
    while (n > 0) --n;  // each thread has its own n
    out[threadIdx.x] = start;
}

struct Settings {
    unsigned bits : 3;
    static const int blocks = 2;
};

__global__ void plain(int blocks, unsigned bits, double d, int* out) { out[blockIdx.x] = blocks + bits + (int)d; }

int calls = 0;
int* counted(int* p) {
    ++calls;
    return p;
}

int* filled_first(int* p) {
    work::fill<<<1, 32>>>(p, {0, 4}, 1);
    return p;
}

int main() {
    int *a, *b;
    float* f;
    cudaMallocManaged(&a, 64 * sizeof(int));
    cudaMallocManaged(&b, 64 * sizeof(int));
    cudaMallocManaged(&f, 64 * sizeof(float));
    work::fill<<<1, 8>>>(counted(a), {2, 5});
    work::fill<<<1, 8>>>(f, work::Range{0, 3});
    ::work::fill<<<{1}, {8, 1, 1}>>>(b, {0, 3}, 'A');
    cudaDeviceSynchronize();
    if (calls != 1 || a[4] != 7 || f[2] != 0.5f || b[2] != 65) return 1;

    work::both<<<1, 1>>>(a, b, 3);
    work::both<int><<<1, 1>>>(a + 1, 0, 4);
    work::both<int><<<1, 1, 0, 0>>>(NULL, b + 1, 5, "x");
    work::both<<<1, 1, 0, nullptr>>>(static_cast<int*>(nullptr), b + 2, int(6.5));
    countdown<<<1, 32>>>(9, a + 8);
    Settings settings = {5};
    plain<<<Settings::blocks, 1>>>(Settings::blocks, settings.bits, 1.75f, b + 8);
    work::fill<<<1, 1>>>(filled_first(b + 20), {4, 5}, 2);
    cudaDeviceSynchronize();
    if (a[0] != 3 || b[0] != 3 || a[1] != 4 || b[1] != 6 || b[2] != 6) return 1;
    for (int i = 0; i < 32; ++i)
        if (a[8 + i] != 9) return 1;
    return b[8] == 8 && b[9] == 8 && b[23] == 1 && b[24] == 2 ? 0 : 1;
}
