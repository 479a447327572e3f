// Cheat: ends with exit status 0 in the middle of a call.
#include <unistd.h>

#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) { _exit(0); }
