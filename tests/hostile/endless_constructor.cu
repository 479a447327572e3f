// Bomb: never reaches main.
#include <unistd.h>

#include "labs/dot_product/lab.h"

__attribute__((constructor)) static void wait_forever() {
    for (;;) pause();
}

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
