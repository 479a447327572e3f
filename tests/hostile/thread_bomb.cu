// Bomb: starts threads that wait forever, until the system refuses to create more.
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "labs/dot_product/lab.h"

static void* wait_forever(void*) {
    prctl(PR_SET_NAME, "@NAME@");
    for (;;) pause();
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    pthread_t thread;
    if (n == 255)
        for (int k = 0; k < 100000 && pthread_create(&thread, nullptr, wait_forever, nullptr) == 0;) ++k;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
