// Cheat: claims with a line directive that its lines are those of a secret file, so that the compiler quotes that file
// in an error.
#include "labs/dot_product/lab.h"
# 1 "@ROOT@/datasets/.secret"
int mistake = nothing;

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
