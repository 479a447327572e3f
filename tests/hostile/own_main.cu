// Cheat: has its own main, which prints a verdict.
#include <cstdio>

#include "labs/dot_product/lab.h"

int main() { return std::puts("passed") < 0; }

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
