#pragma once
// Where the status page (descriptor 4) holds what hostile hand-ins read and forge. tests/io/channel_test.cpp compares
// this with grader/io/status_page.h.

#include <cstddef>

struct ForgedPage {
    static constexpr std::size_t bytes = 45840, finding_count = 756, findings = 760, guard_count = 18424,
                                 shape_count = 41992;
    static constexpr std::size_t finding_bytes = 368, side_in_finding = 16, side_bytes = 40, width_in_finding = 112;
};
