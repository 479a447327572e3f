// Bomb: a file with an error and a line of 0.9 MB of spaces, in which the judge looks for C++20 headers.
// The test replaces @N TEXT@ by N copies of TEXT.
#include "labs/dot_product/lab.h"
@900000  @
static_assert(sizeof(int) == 3, "");
