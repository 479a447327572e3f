// Bomb: a line of 0.9 MB with a dozen errors, each of which the report quotes with its line.
// The test replaces @N TEXT@ by N copies of TEXT.
#include "labs/dot_product/lab.h"
int z0 = q0, z1 = q1, z2 = q2, z3 = q3, z4 = q4, z5 = q5, z6 = q6, z7 = q7, z8 = q8, z9 = q9, z10 = q10, z11 = q11;  // @900000 x@
