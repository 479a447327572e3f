// Cheat: includes an endless file.
#include "labs/dot_product/lab.h"
#define ENDLESS "/dev/zero"
#include ENDLESS

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
