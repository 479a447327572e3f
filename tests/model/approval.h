#pragma once
// Compares rendered text with the approved text in tests/model/expected/<name>. After an intended change, run the tests
// once with WARPLAB_APPROVE=1, and read the difference before you commit it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

#include "grader/common/utf8.h"
#include "tests/model/project.h"
#include "tests/paths.h"

namespace warplab::test {

inline void expect_approved(const std::string& name, const std::string& text) {
    const auto file = root_folder() / "tests/model/expected" / name;
    if (std::getenv("WARPLAB_APPROVE")) write_file(file, text);
    EXPECT_EQ(text, read_file(file)) << "differs from the approved text in " << file;
}

inline std::size_t widest_line(const std::string& text) {
    std::istringstream lines(text);
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
    return widest;
}

}  // namespace warplab::test
