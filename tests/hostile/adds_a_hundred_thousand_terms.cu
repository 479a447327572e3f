// Bomb: a sum for which g++ takes time quadratic in its length: minutes on a busy machine.
// The test replaces @N TEXT@ by N copies of TEXT.
#include "labs/dot_product/lab.h"

__device__ int sum(int a) { return a@100000 +a@; }

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
