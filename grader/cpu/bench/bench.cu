// Measures how fast the CPU backend runs kernels, relative to a plain sequential loop in the same run.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sequential.h>


__global__ void add_kernel(const float* a, const float* b, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

// Each block counts a slice of the input; its threads read neighbouring bytes.
__global__ void histogram_kernel(const unsigned char* in, unsigned* bins, int n) {
    __shared__ unsigned block_bins[256];
    block_bins[threadIdx.x] = 0;
    __syncthreads();
    const int slice = (n + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * slice, end = min(begin + slice, n);
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) atomicAdd(&block_bins[in[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], block_bins[threadIdx.x]);
}

// The threads of the grid read neighbouring bytes. On this backend, a thread runs alone from barrier to barrier, so
// steps that are powers of two use only a few cache sets.
__global__ void grid_stride_histogram_kernel(const unsigned char* in, unsigned* bins, int n) {
    __shared__ unsigned block_bins[256];
    block_bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&block_bins[in[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], block_bins[threadIdx.x]);
}

template <class T>
__global__ void tree_sum_kernel(const T* in, T* sum, int n) {
    __shared__ T part[256];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : T{0};
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(sum, part[0]);
}

__global__ void shuffle_sum_kernel(const float* in, float* sum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? in[i] : 0.0f;
    for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(0xffffffff, value, half);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, value);
}

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
    __shared__ float tile_a[16][16], tile_b[16][16];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Run `sequential` and `kernel` alternately, so that other work on the machine affects both. Print the median times
/// and the median ratio, and the limit of the ratio if it has one (not 0).
template <class Sequential, class Kernel>
static void compare(const char* what, double max_ratio, Sequential sequential, Kernel kernel) {
    std::vector<double> plain_s, kernel_s, ratio;
    for (int i = 0; i < 21; ++i) {
        const double begin = seconds();
        sequential();
        const double middle = seconds();
        kernel();
        const double end = seconds();
        plain_s.push_back(middle - begin);
        kernel_s.push_back(end - middle);
        ratio.push_back(kernel_s.back() / plain_s.back());
    }
    printf("%-46s %9.2f ms %9.2f ms %8.2f", what, median(plain_s) * 1e3, median(kernel_s) * 1e3, median(ratio));
    if (max_ratio > 0) printf("   at most %g", max_ratio);
    printf("\n");
}

static void require_right(bool is_right, const char* what) {
    if (is_right) return;
    fprintf(stderr, "bench-backend: %s is wrong\n", what);
    exit(1);
}

template <class T>
static T* upload(const std::vector<T>& values) {
    T* device = nullptr;
    cudaMalloc(&device, values.size() * sizeof(T));
    cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

static void bench_add(int n) {
    std::vector<float> a(n, 1.0f), b(n, 2.0f), out(n);
    float *device_a = upload(a), *device_b = upload(b), *device_out = upload(out);
    compare(
        "vector add, 16M floats", 1.2, [&] { add_sequential(a.data(), b.data(), out.data(), n); },
        [&] { add_kernel<<<(n + 255) / 256, 256>>>(device_a, device_b, device_out, n); });
    cudaMemcpy(a.data(), device_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    require_right(a == out, "vector add");
    cudaFree(device_a), cudaFree(device_b), cudaFree(device_out);
}

static void bench_histogram(int n) {
    std::vector<unsigned char> in(n);
    for (int i = 0; i < n; ++i) in[i] = i * 2654435761u >> 13;
    std::vector<unsigned> bins(256), result(256);
    unsigned char* device_in = upload(in);
    unsigned* device_bins = upload(result);
    compare(
        "histogram in shared memory, 16M bytes", 2, [&] { histogram_sequential(in.data(), bins.data(), n); },
        [&] {
            cudaMemset(device_bins, 0, 256 * sizeof(unsigned));
            histogram_kernel<<<64, 256>>>(device_in, device_bins, n);
        });
    cudaMemcpy(result.data(), device_bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost);
    require_right(result == bins, "the histogram");
    compare(
        "the same, each thread striding over the grid", 0, [&] { histogram_sequential(in.data(), bins.data(), n); },
        [&] {
            cudaMemset(device_bins, 0, 256 * sizeof(unsigned));
            grid_stride_histogram_kernel<<<32, 256>>>(device_in, device_bins, n);
        });
    cudaMemcpy(result.data(), device_bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost);
    require_right(result == bins, "the histogram by strides");
    cudaFree(device_in), cudaFree(device_bins);
}

template <class T>
static void bench_tree(const char* what, double max_ratio, int n) {
    std::vector<T> in(n), zero(1);
    for (int i = 0; i < n; ++i) in[i] = T(i % 3);
    T *device_in = upload(in), *device_sum = upload(zero), sum = 0, result = 0;
    compare(
        what, max_ratio, [&] { sum = sum_sequential(in.data(), n); },
        [&] {
            cudaMemset(device_sum, 0, sizeof(T));
            tree_sum_kernel<<<(n + 255) / 256, 256>>>(device_in, device_sum, n);
        });
    cudaMemcpy(&result, device_sum, sizeof(T), cudaMemcpyDeviceToHost);
    require_right(result == sum, "the tree's sum");
    cudaFree(device_in), cudaFree(device_sum);
}

static void bench_shuffles(int n) {
    std::vector<float> in(n), zero(1);
    for (int i = 0; i < n; ++i) in[i] = float(i % 3);
    float *device_in = upload(in), *device_sum = upload(zero), sum = 0, result = 0;
    compare(
        "sum by shuffles, 1M, block 256", 0, [&] { sum = sum_sequential(in.data(), n); },
        [&] {
            cudaMemset(device_sum, 0, sizeof(float));
            shuffle_sum_kernel<<<(n + 255) / 256, 256>>>(device_in, device_sum, n);
        });
    cudaMemcpy(&result, device_sum, sizeof(float), cudaMemcpyDeviceToHost);
    require_right(result == sum, "the shuffles' sum");
    cudaFree(device_in), cudaFree(device_sum);
}

static void bench_matmul(int n) {
    std::vector<float> a(n * n, 1.0f), c(n * n);
    float *device_a = upload(a), *device_c = upload(c);
    compare(
        "tiled matrix product, 256 x 256", 0,
        [&] {
            std::fill(c.begin(), c.end(), 0.0f);
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < n; ++k)
                    for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * a[k * n + j];
        },
        [&] { matmul_kernel<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(device_a, device_a, device_c, n); });
    std::vector<float> product(n * n);
    cudaMemcpy(product.data(), device_c, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    require_right(product == c, "the matrix product");
    cudaFree(device_a), cudaFree(device_c);
}

int main() {
    printf("%-46s %12s %12s %8s\n", "", "sequential", "CPU backend", "ratio");
    bench_add(1 << 24);
    bench_histogram(1 << 24);
    bench_tree<int>("sum of ints by a tree in shared memory, 1M", 10, 1 << 20);
    bench_tree<float>("the same of floats", 0, 1 << 20);
    bench_shuffles(1 << 20);
    bench_matmul(256);
}
