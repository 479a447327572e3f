#pragma once
// Offsets in the status page (descriptor 4) of the fields that hostile hand-ins read and forge.
// tests/io/channel_test.cpp compares this with grader/io/status_page.h.

#include <cstddef>

struct ForgedPage {
    static constexpr std::size_t bytes = 49000, finding_count = 844, findings = 848, guard_count = 21584,
                                 shape_count = 45152;
    static constexpr std::size_t finding_bytes = 432, side_in_finding = 16, side_bytes = 40, width_in_finding = 112,
                                 lines_in_finding = 136;
};
