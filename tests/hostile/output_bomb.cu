// Bomb: prints without end.
#include <unistd.h>

#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    static char block[1 << 16];
    while (write(1, block, sizeof block) > 0) {
    }
}
