#pragma once
// Whether a student's object file keeps the contract: defines the function with the right signature, and nothing that
// is the grader's.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/core/report.h"
#include "grader/judge/compilation/symbols.h"

namespace warplab::compilation {

/// What a lab's driver calls, demangled.
struct Contract {
    std::string function;               // dot_product
    std::string signature;              // dot_product(int const*, int const*, int*, unsigned long, void*)
    std::string declaration;            // as lab.h writes it
    std::vector<std::string> optional;  // signatures of what may be defined
    std::set<std::string> reserved;     // names that the harness defines
};

/// The first breach, if any. `source` is the student's text, to name lines.
std::optional<Failure> find_breach(const std::vector<Symbol>& symbols, const Contract& contract,
                                   const std::string& source);

/// A compiler's error that says the contract function is declared otherwise than in lab.h.
bool is_about_signature(const std::string& message, const Contract& contract);

Failure wrong_signature(const Contract& contract, const std::string& found);

}  // namespace warplab::compilation
