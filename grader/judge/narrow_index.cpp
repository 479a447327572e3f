#include "grader/judge/narrow_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <regex>
#include <sstream>

#include "grader/judge/compile/hand_in.h"

namespace warplab {
namespace {

bool exceeds_int(const Dataset& dataset) {
    return std::ranges::any_of(dataset.parameters, [](const auto& parameter) {
        const auto* size = std::get_if<std::int64_t>(&parameter.second);
        return size && *size > std::numeric_limits<int>::max();
    });
}

}  // namespace

std::string note_narrow_index(const std::vector<const Dataset*>& skipped, const std::string& source) {
    const auto large = std::ranges::find_if(skipped, [](const Dataset* dataset) { return exceeds_int(*dataset); });
    if (large == skipped.end()) return "";
    static const std::regex declaration(R"(\bint\s+(\w+)\s*=[^;]*\bblockIdx\.x\s*\*)");
    std::stringstream lines(compilation::without_comments(source));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        std::smatch found;
        if (!std::regex_search(line, found, declaration)) continue;
        return fmt::format(
            "Line {}: {} is an int, so it cannot exceed 2^31 - 1. The dataset {}, which needs a GPU, has more "
            "elements. If {} is an index of elements, declare it as std::size_t and convert before you multiply: "
            "std::size_t{{blockIdx.x}} * blockDim.x.",
            number, found[1].str(), (*large)->name, found[1].str());
    }
    return "";
}

}  // namespace warplab
