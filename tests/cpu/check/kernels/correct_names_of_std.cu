// Device variables whose names are also in the standard library.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

using namespace std;

__device__ int count;
__constant__ int distance[2] = {1, 2};

__global__ void count_kernel() { atomicAdd(&::count, ::distance[threadIdx.x % 2]); }

int main() {
    count_kernel<<<2, 32>>>();
    int counted;
    cudaMemcpyFromSymbol(&counted, ::count, sizeof(int));
    bool right = counted == 96;
    puts(right ? "ok" : "wrong");
    return !right;
}
