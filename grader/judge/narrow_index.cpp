#include "grader/judge/narrow_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

#include "grader/common/text.h"
#include "grader/judge/compile/hand_in.h"

namespace warplab {
namespace {

bool exceeds_int(const Dataset& dataset) {
    return std::ranges::any_of(dataset.parameters, [](const auto& parameter) {
        const auto* size = std::get_if<std::int64_t>(&parameter.second);
        return size && *size > std::numeric_limits<int>::max();
    });
}

/// Return the words and the other visible characters of a line.
std::vector<std::string_view> parts_of(std::string_view line) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0, end; at < line.size(); at = end) {
        for (end = at; end < line.size() && is_word_character(line[end]);) ++end;
        if (end == at) ++end;
        if (!std::isspace(static_cast<unsigned char>(line[at]))) parts.push_back(line.substr(at, end - at));
    }
    return parts;
}

/// Return the name in `int NAME = … blockIdx.x …;` if the value is a product, "" if the line has none.
std::string narrow_index_in(std::string_view line) {
    const std::vector<std::string_view> parts = parts_of(line);
    std::string name;  // declared in this statement
    bool has_block = false, multiplies = false;
    for (std::size_t i = 0; i + 2 < parts.size(); ++i) {
        if (parts[i] == ";") name.clear();
        if (parts[i] == "int" && is_word_character(parts[i + 1][0]) && parts[i + 2] == "=") {
            name = parts[i + 1];
            has_block = multiplies = false;
        }
        has_block |= parts[i] == "blockIdx" && parts[i + 2] == "x";
        multiplies |= parts[i] == "*";
        if (has_block && multiplies && !name.empty()) return name;
    }
    return "";
}

}  // namespace

std::string note_narrow_index(const std::vector<const Dataset*>& skipped, const std::string& source) {
    const auto large = std::ranges::find_if(skipped, [](const Dataset* dataset) { return exceeds_int(*dataset); });
    if (large == skipped.end()) return "";
    std::stringstream lines(compilation::without_comments(source));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::string name = narrow_index_in(line);
        if (name.empty()) continue;
        return fmt::format(
            "Line {}: {} is an int, so it cannot exceed 2^31 - 1. The dataset {}, which needs a GPU, has more "
            "elements. If {} is an index of elements, declare it as std::size_t and convert before you multiply: "
            "std::size_t{{blockIdx.x}} * blockDim.x.",
            number, name, (*large)->name, name);
    }
    return "";
}

}  // namespace warplab
