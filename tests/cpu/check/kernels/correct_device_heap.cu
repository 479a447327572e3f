// new, malloc, delete and free in device code: other threads and the next kernel use the allocated memory, too.

#include <cstdio>
#include <cstdlib>
#include <vector>

struct Node {
    int value;
    Node* next;
};

__global__ void build(Node** heads, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int* scratch = new int[4];
    for (int k = 0; k < 4; ++k) scratch[k] = i + k;
    int* more = static_cast<int*>(malloc(2 * sizeof(int)));
    more[1] = scratch[3];
    delete[] scratch;
    heads[i] = new Node{more[1], i ? nullptr : new Node{7, nullptr}};
    free(more);
    __shared__ int* of_block;
    if (threadIdx.x == 0) of_block = new int[blockDim.x];
    __syncthreads();
    of_block[threadIdx.x] = heads[i]->value;
    __syncthreads();
    heads[i]->value = of_block[threadIdx.x ^ 1];
    __syncthreads();
    if (threadIdx.x == 0) delete[] of_block;
}

__global__ void sum(Node** heads, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (const Node* node = heads[i]; node; node = node->next) atomicAdd(out, node->value);
    delete heads[i]->next;
    delete heads[i];
}

int main() {
    const int n = 256;
    std::vector<int> on_host(n, 1);  // the host's own new and delete
    int *in_host_memory = new int(5), *out, total = 0;
    Node** heads;
    cudaMalloc(&heads, n * sizeof(Node*));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(out, 0, sizeof(int));
    build<<<4, 64>>>(heads, n);
    sum<<<4, 64>>>(heads, out);
    cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
    const bool right = total == n * (n - 1) / 2 + 3 * n + 7 && *in_host_memory == 5 && on_host[n - 1] == 1;
    delete in_host_memory;
    cudaFree(heads);
    cudaFree(out);
    puts(right ? "ok" : "wrong");
}
