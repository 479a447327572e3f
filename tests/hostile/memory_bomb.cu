// Bomb: allocates memory until there is none left.
#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    for (;;) __builtin_memset(new char[64 << 20], 1, 64 << 20);
}
