#pragma once
// What an object file defines and wants, as `nm -C` prints it.

#include <string>
#include <vector>

namespace warplab::compilation {

struct Symbol {
    char kind;         // nm's letter: T defined, U wanted, W weak …
    std::string name;  // demangled: "ns::f(int, float const*)"

    /// "ns::f" of "ns::f(int)"; the whole name for data and C functions.
    std::string function() const;
    bool defined_strongly() const;
};

/// Lines that are no symbols are left out.
std::vector<Symbol> read_symbols(const std::string& nm_output);

}  // namespace warplab::compilation
