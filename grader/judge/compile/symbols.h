#pragma once
// The symbols that an object file defines and requires, as `nm -C` prints them.

#include <string>
#include <vector>

namespace warplab::compilation {

struct Symbol {
    char kind;         // nm's letter: T defined, U undefined, W weak …
    std::string name;  // demangled: "ns::f(int, float const*)"

    /// Return "ns::f" for "ns::f(int)"; the whole name for data and C functions.
    std::string function() const;
    /// Return whether the object file defines the symbol, and not as a weak one.
    bool defined_strongly() const;
};

/// Parse nm's output. Lines that are not symbols are skipped.
std::vector<Symbol> read_symbols(const std::string& nm_output);

}  // namespace warplab::compilation
