// Bomb: opens the answer pipe for reading and drains everything that the runner writes.
#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "labs/dot_product/lab.h"

static void drain() {
    const int answers = open("/proc/self/fd/5", O_RDONLY);
    static char bytes[65536];
    while (read(answers, bytes, sizeof bytes) > 0) {
    }
}

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    for (int i = 0; i < 8; ++i) std::thread(drain).detach();
    usleep(100000);
}
