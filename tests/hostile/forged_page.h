#pragma once
// Offsets in the status page (descriptor 4) of the fields that hostile hand-ins read and forge.
// tests/io/channel_test.cpp compares this with grader/io/status_page.h.

#include <cstddef>

struct ForgedPage {
    static constexpr std::size_t bytes = 45912, finding_count = 828, findings = 832, guard_count = 18496,
                                 shape_count = 42064;
    static constexpr std::size_t finding_bytes = 368, side_in_finding = 16, side_bytes = 40, width_in_finding = 112,
                                 lines_in_finding = 136;
};
