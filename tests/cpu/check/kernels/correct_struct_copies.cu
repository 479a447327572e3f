// Structs copied whole in shared memory, after variables of other sizes. A copy needs only the alignment of the
// struct, which is that of its largest member.
#include <cstdio>

struct Pair {
    int even, odd;
};
struct Point {
    float x, y, z, w;
};
struct Halves {
    short low, high;
};
struct Pixel {
    unsigned char r, g, b, a;
};
class Complex {
  public:
    __device__ Complex(float re = 0, float im = 0) : re_(re), im_(im) {}
    __device__ Complex operator+(const Complex& other) const { return {re_ + other.re_, im_ + other.im_}; }
    __device__ float sum() const { return re_ + im_; }

  private:
    float re_, im_;
};
template <class T>
struct Entry {
    T key, value;
    __device__ Entry best(Entry other) const { return other.key > key ? other : *this; }
};

__global__ void sums_kernel(int* out) {
    __shared__ int any;
    __shared__ Pair sums[64];
    const unsigned t = threadIdx.x;
    if (t == 0) any = 1;
    sums[t] = {1, 2};
    __syncthreads();
    for (unsigned half = 32; half > 0; half /= 2) {
        if (t < half) {
            const Pair other = sums[t + half];
            sums[t].even += other.even;
            sums[t].odd += other.odd;
        }
        __syncthreads();
    }
    out[t] = any + sums[0].even + sums[0].odd;
}

__global__ void kinds_kernel(int* out) {
    __shared__ bool flag;
    __shared__ Complex values[64];
    __shared__ short count;
    __shared__ Halves halves[65];
    __shared__ char bytes[3];
    __shared__ Pixel pixels[65];
    __shared__ Point points[2][32], best;
    __shared__ struct {
        char used;
        Pair pairs[64];
    } table;
    __shared__ Entry<float> entries[64];
    const unsigned t = threadIdx.x;
    if (t == 0) flag = true, count = 1, bytes[2] = 1, table.used = 1, best = {1, 1, 1, 1};
    values[t] = Complex(1, 2);
    halves[t] = {1, 2};
    pixels[t] = {1, 2, 3, 4};
    points[t / 32][t % 32] = {1, 2, 3, 4};
    table.pairs[t] = {1, 2};
    entries[t] = {float(t), 1};
    __syncthreads();
    const Complex value = values[63 - t] + values[t];
    const Halves half = halves[63 - t];
    const Pixel pixel = pixels[63 - t];
    const Point point = points[1 - t / 32][t % 32], first = best;
    const Pair pair = table.pairs[63 - t];
    const Entry<float> entry = entries[t].best(entries[63 - t]);
    __syncthreads();
    if (t < 32) {
        const Point swapped = points[0][t];
        points[0][t] = points[1][t];
        points[1][t] = swapped;
    }
    out[t] = value.sum() + half.high + pixel.a + point.w + first.x + pair.odd + entry.value + flag + count + bytes[2] +
             table.used;
}

int main() {
    int *out, results[128];
    cudaMalloc(&out, sizeof results);
    sums_kernel<<<1, 64>>>(out);
    kinds_kernel<<<1, 64>>>(out + 64);
    cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost);
    cudaFree(out);
    bool right = true;
    for (int i = 0; i < 128; ++i) right = right && results[i] == (i < 64 ? 193 : 24);
    std::puts(right ? "ok" : "wrong");
}
