// Cheat: includes the solution in the same way as lab.h, from the compiler's include folders.
#include "labs/dot_product/lab.h"
#include "solutions/dot_product/01_serial_block_sum.cu"

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
