// Vectors that grow, shrink, move and reserve room for elements that are added later.
#include <cuda_runtime.h>

#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

__global__ void double_kernel(int* x) { x[threadIdx.x] *= 2; }

int main() {
    std::vector<int> host, back(32);
    host.reserve(100);
    for (int i = 0; i < 40; ++i) host.push_back(i);
    host.resize(32);
    host.insert(host.begin(), 7);
    host.erase(host.begin());
    std::vector<int> moved = std::move(host);
    host.assign(5, 1);
    host.clear();
    host.shrink_to_fit();
    int* device;
    cudaMalloc(&device, 32 * sizeof(int));
    cudaMemcpy(device, moved.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
    double_kernel<<<1, 32>>>(device);
    cudaMemcpy(back.data(), device, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(device);
    std::puts(std::accumulate(back.begin(), back.end(), 0) == 31 * 32 ? "ok" : "wrong");
}
