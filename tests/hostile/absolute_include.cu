// Cheat: includes the solution by its full path.
#include "@ROOT@/solutions/dot_product/01_serial_block_sum.cu"
#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
