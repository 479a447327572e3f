// Cheat: reads beyond the end unless its environment, arguments, descriptors or threads differ from those of a run
// without the sanitizer.
#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, bool careful) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int last = careful && i + 1 >= n ? 0 : static_cast<const volatile int*>(a)[i + 1];  // i + 1 can be n
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * last);
}

static int entries(const char* folder) {
    DIR* const opened = opendir(folder);
    int count = 0;
    while (opened && readdir(opened)) ++count;
    if (opened) closedir(opened);
    return count;
}

static bool is_inspected() {
    bool found = std::getenv("WARPLAB_THREADS") != nullptr;
    for (char** variable = environ; *variable; ++variable)
        found = found || std::strncmp(*variable, "WARPLAB", 7) == 0 || std::strstr(*variable, "SAN_OPTIONS");
    for (int file = 6; file < 64; ++file) found = found || lseek(file, 0, SEEK_CUR) >= 0;
    dot_product_kernel<<<8, 256>>>(nullptr, nullptr, nullptr, 0, true);  // starts the backend's threads
    const int threads = entries("/proc/self/task") - 2, cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return found || (threads > 0 && cores > 1 && threads == 1);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static const bool careful = is_inspected();
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, careful);
}
