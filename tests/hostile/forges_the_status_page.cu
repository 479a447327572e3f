// Cheat: writes into the status page that kernels were launched and succeeded.
#include <sys/mman.h>

#include <cstdint>

#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    auto* page = static_cast<std::uint64_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0));
    if (page != MAP_FAILED)
        for (int word = 0; word < 512; ++word) page[word] = 0x100000004;
}
