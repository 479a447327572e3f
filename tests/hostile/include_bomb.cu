// Bomb: a file that includes itself.
#include "labs/dot_product/lab.h"
#include "student.cu"

#if __INCLUDE_LEVEL__ == 0
void dot_product(const int*, const int*, int*, std::size_t, void*) {}
#endif
