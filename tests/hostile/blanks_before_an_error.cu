// Bomb: a line of 0.9 MB of blanks in a file with an error, for which the judge looks for headers of C++20.
#include "labs/dot_product/lab.h"
@900000  @
static_assert(sizeof(int) == 3, "");
