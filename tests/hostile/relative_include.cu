// Cheat: includes the solution by a path that leaves its folder.
#include "../../solutions/dot_product/01_serial_block_sum.cu"
#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
