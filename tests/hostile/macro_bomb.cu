// Bomb: a macro that expands to 134 million terms.
#include "labs/dot_product/lab.h"

#define M1 M2 M2 M2 M2 M2 M2 M2 M2
#define M2 M3 M3 M3 M3 M3 M3 M3 M3
#define M3 M4 M4 M4 M4 M4 M4 M4 M4
#define M4 M5 M5 M5 M5 M5 M5 M5 M5
#define M5 M6 M6 M6 M6 M6 M6 M6 M6
#define M6 M7 M7 M7 M7 M7 M7 M7 M7
#define M7 M8 M8 M8 M8 M8 M8 M8 M8
#define M8 M9 M9 M9 M9 M9 M9 M9 M9
#define M9 M10 M10 M10 M10 M10 M10 M10 M10
#define M10 +1
int bomb = M1;

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
