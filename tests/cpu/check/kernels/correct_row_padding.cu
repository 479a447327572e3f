// Vectors include padding of rows and structs that was never written, but its values are not used.
#include <cstdio>

constexpr int width = 61, rows = 3;

struct __align__(16) Point {
    float x, y, z;
};

template <class T>
__global__ void copy_kernel(const char* in, char* out, size_t pitch, int row_bytes) {
    const size_t at = blockIdx.x * pitch + threadIdx.x * sizeof(T);
    if (threadIdx.x * sizeof(T) >= row_bytes) return;
    *reinterpret_cast<T*>(out + at) = *reinterpret_cast<const T*>(in + at);
}

template <class Element, class Vector>
bool copies() {
    Element host[rows * width], back[rows * width] = {};
    for (int i = 0; i < rows * width; ++i) host[i] = i % 100;
    const size_t row_bytes = width * sizeof(Element);
    char *in, *out;
    size_t pitch, same_pitch;
    cudaMallocPitch(&in, &pitch, row_bytes, rows);
    cudaMallocPitch(&out, &same_pitch, row_bytes, rows);
    cudaMemcpy2D(in, pitch, host, row_bytes, row_bytes, rows, cudaMemcpyHostToDevice);
    copy_kernel<Vector><<<rows, 64>>>(in, out, pitch, row_bytes);
    cudaMemcpy2D(back, row_bytes, out, same_pitch, row_bytes, rows, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return back[rows * width - 1] == host[rows * width - 1];
}

__global__ void point_kernel(Point* points, float* sums) {
    points[threadIdx.x].x = 1;
    points[threadIdx.x].y = 2;
    points[threadIdx.x].z = 3;
    const float4 point = *reinterpret_cast<const float4*>(points + threadIdx.x);
    sums[threadIdx.x] = point.x + point.y + point.z;
}

int main() {
    Point* points;
    float *sums, sum = 0;
    cudaMalloc(&points, 32 * sizeof(Point));
    cudaMalloc(&sums, 32 * sizeof(float));
    point_kernel<<<1, 32>>>(points, sums);
    cudaMemcpy(&sum, sums + 31, sizeof sum, cudaMemcpyDeviceToHost);
    cudaFree(points);
    cudaFree(sums);
    const bool right = copies<float, float4>() && copies<int, int2>() && copies<unsigned char, uchar4>() &&
                       copies<short, short2>() && copies<short, short4>();
    std::puts(right && sum == 6 ? "ok" : "wrong");
}
