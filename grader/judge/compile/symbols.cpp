#include "grader/judge/compile/symbols.h"

#include <cctype>
#include <cstring>
#include <sstream>

namespace warplab::compilation {

std::string Symbol::function() const {
    constexpr auto anonymous = "(anonymous namespace)::";
    const std::size_t skip = name.starts_with(anonymous) ? std::strlen(anonymous) : 0;
    return name.substr(0, name.find('(', skip));
}

bool Symbol::defined_strongly() const { return std::strchr("TDBRCG", kind) != nullptr; }

// "0000000000000010 T dot_product(int const*, …)", "                 U cudaMalloc"
std::vector<Symbol> read_symbols(const std::string& nm_output) {
    std::vector<Symbol> symbols;
    std::stringstream lines(nm_output);
    for (std::string line; std::getline(lines, line);) {
        constexpr std::size_t kind_at = 17, name_at = 19;
        if (line.size() <= name_at || line[kind_at - 1] != ' ' || line[kind_at + 1] != ' ') continue;
        if (std::isalpha(static_cast<unsigned char>(line[kind_at])))
            symbols.push_back({line[kind_at], line.substr(name_at)});
    }
    return symbols;
}

}  // namespace warplab::compilation
