// Cheat: ends the program and, in an exit handler, writes a report with full points.
#include <cstdio>
#include <cstdlib>

#include "labs/dot_product/lab.h"

static void write_report() {
    std::puts("{\"verdict\": \"passed\", \"score\": {\"total\": 10, \"max\": 10}}");
    if (std::FILE* report = std::fopen("@BUILD@/report/dot_product.json", "w")) {
        std::fputs("{\"schema\": 1, \"stages\": [{\"verdict\": \"passed\"}]}", report);
        std::fclose(report);
    }
}

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    std::atexit(write_report);
    std::exit(0);
}
