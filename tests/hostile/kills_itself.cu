// Cheat: ends as if the machine had run out of memory.
#include <signal.h>

#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) { raise(SIGKILL); }
