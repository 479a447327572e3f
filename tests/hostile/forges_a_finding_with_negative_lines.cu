// Cheat: an honest solution whose host code writes a finding with negative lines into the status page (descriptor 4),
// so that nobody can read the report.
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "forged_page.h"
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int products[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned t = 0; t < 256; ++t) sum += products[t];
        atomicAdd(out, sum);
    }
}

static void forge_a_finding() {
    using Page = ForgedPage;
    auto* page = static_cast<char*>(mmap(nullptr, Page::bytes, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0));
    if (page == MAP_FAILED) return;
    const std::uint32_t kind = 8, space = 4, width = 8, one = 1;
    const std::int32_t lines[2] = {-1, -2};
    std::memcpy(page + Page::findings, &kind, 4);
    std::memcpy(page + Page::findings + 4, &space, 4);
    std::memcpy(page + Page::findings + Page::width_in_finding, &width, 4);
    std::memcpy(page + Page::findings + Page::lines_in_finding, lines, sizeof lines);
    std::memcpy(page + Page::finding_count, &one, 4);
    munmap(page, Page::bytes);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
    forge_a_finding();
}
