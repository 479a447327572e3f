// Bomb: never returns from its untimed preparation.
#include <unistd.h>

#include "labs/dot_product/lab.h"

void dot_product_prepare(std::size_t) {
    for (;;) pause();
}

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
