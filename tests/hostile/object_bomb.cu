// Bomb: an object file of a terabyte.
#include "labs/dot_product/lab.h"

#define JOIN(a, b) a##b
JOIN(as, m)(".pushsection .data\n.fill 0x10000000000, 1, 1\n.popsection");

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
