#include "grader/judge/sanitizer/array_names.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

namespace warplab {
namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Return the beginning of the "[…]" that ends before `end`; npos if it has no beginning.
std::size_t bracket_before(const std::string& text, std::size_t end) {
    int depth = 0;
    for (std::size_t at = end; at-- > 0;) {
        depth += (text[at] == ']') - (text[at] == '[');
        if (depth == 0) return text[at] == '[' ? at : std::string::npos;
    }
    return std::string::npos;
}

/// An array or a row of an array, such as tile[t / 32].
struct Indexed {
    std::string words;  // "halo->tile[t / 32]"
    std::string name;   // "tile"
    int indices = 0;    // 1
};

/// Return the array whose index ends before `end`. Its words are empty if it has no name.
Indexed array_before(const std::string& text, std::size_t end) {
    std::size_t begin = bracket_before(text, end);
    if (begin == std::string::npos) return {};
    while (begin > 0 && text[begin - 1] == ' ') --begin;
    const std::size_t last = begin;
    Indexed indexed;
    while (begin > 0) {
        const char before = text[begin - 1];
        if (before == ']') {
            begin = bracket_before(text, begin);
            if (begin == std::string::npos) return {};
            if (indexed.name.empty()) ++indexed.indices;
        } else if (is_name_character(before)) {
            const std::size_t name_end = begin;
            while (begin > 0 && is_name_character(text[begin - 1])) --begin;
            if (indexed.name.empty()) indexed.name = text.substr(begin, name_end - begin);
        } else if (before == '.') {
            --begin;
        } else if (begin > 1 && text.compare(begin - 2, 2, "->") == 0) {
            begin -= 2;
        } else {
            break;
        }
    }
    if (!indexed.name.empty()) indexed.words = text.substr(begin, last - begin);
    return indexed;
}

/// Return the number of "[…]" that follow each other from `at` on.
int brackets_at(const std::string& text, std::size_t at) {
    int count = 0;
    while (at < text.size() && text[at] == '[') {
        int depth = 0;
        do depth += (text[at] == '[') - (text[at] == ']');
        while (++at < text.size() && depth > 0);
        ++count;
    }
    return count;
}

/// Return whether a declaration may have these words before its name: "__shared__ float", "float a[8],", "float (&".
bool may_declare(std::string_view before) {
    const auto trim = [&] { before = before.substr(0, before.find_last_not_of(" \n\t") + 1); };
    trim();
    if (before.ends_with("(&")) return true;
    if (before.ends_with("return") || before.ends_with("else")) return false;
    if (before.ends_with("]") || before.ends_with("->")) return false;
    if (!before.ends_with(",")) return !before.empty() && (is_name_character(before.back()) || before.back() == '>');
    before = before.substr(before.find_last_of(";{}(") + 1);
    return before.find("__shared__") != before.npos || before.find("__constant__") != before.npos;
}

/// Return the numbers of dimensions in the declarations of arrays with this name.
std::set<int> declared_dimensions(const std::string& text, const std::string& name) {
    std::set<int> all;
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + name.size())) {
        std::size_t end = at + name.size();
        if (at == 0 || is_name_character(text[at - 1]) || (end < text.size() && is_name_character(text[end]))) continue;
        if (!may_declare(std::string_view(text).substr(0, at))) continue;
        if (end < text.size() && text[end] == ')') ++end;
        if (const int count = brackets_at(text, end)) all.insert(count);
    }
    return all;
}

}  // namespace

std::string indexed_array(const IndexPlace& index, const std::string& text) {
    const auto dimensions = static_cast<int>(std::ranges::count(index.type, '['));
    std::set<std::string> fitting, all;
    for (std::size_t end = 1; end <= index.line.size(); ++end) {
        if (index.line[end - 1] != ']' || (end > 1 && index.line[end - 2] == '[')) continue;
        const Indexed array = array_before(index.line, end);
        if (array.words.empty()) continue;
        const std::set<int> declared = declared_dimensions(text, array.name);
        const bool fits = declared.contains(dimensions + array.indices);
        if (end == index.column && (fits || declared.empty())) return array.words;
        if (fits) fitting.insert(array.words);
        all.insert(array.words);
    }
    if (fitting.size() == 1) return *fitting.begin();
    return fitting.empty() && all.size() == 1 ? *all.begin() : "";
}

}  // namespace warplab
