// Cheat: shuts the judge's channel down in both directions.
#include <sys/socket.h>

#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) { shutdown(3, SHUT_RDWR); }
