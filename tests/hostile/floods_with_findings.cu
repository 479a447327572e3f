// Bomb: several threads send endless findings, complete and partial ones.
#include <unistd.h>

#include <cstdint>
#include <thread>

#include "labs/dot_product/lab.h"

static void flood(std::size_t bytes) {
    static char finding[4096] = {'N', 'I', 'F', 'W'};  // 0x5746494e
    while (write(5, finding, bytes) > 0) {
    }
}

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    for (const std::size_t bytes : {4u, 368u, 4096u}) std::thread(flood, bytes).detach();
    for (;;) pause();
}
