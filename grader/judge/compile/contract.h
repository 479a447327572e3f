#pragma once
// Whether a student's object file keeps the contract: defines the function with the right signature, and nothing that
// is the grader's.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grader/judge/compile/symbols.h"
#include "grader/model/report.h"

namespace warplab::compilation {

/// What a lab's driver calls, demangled.
struct Contract {
    std::string function;               // dot_product
    std::string signature;              // dot_product(int const*, int const*, int*, unsigned long, void*)
    std::string declaration;            // as lab.h writes it
    std::vector<std::string> optional;  // signatures of what may be defined
    std::set<std::string> reserved;     // names that the harness defines
    std::vector<std::string>
        offered;  // functions that the driver may call, mangled: a student's object exports only these
};

/// The first breach, if any. `source` is the student's text, to name lines.
std::optional<Failure> find_breach(const std::vector<Symbol>& symbols, const Contract& contract,
                                   const std::string& source);

/// The breach that a compiler's error stands for: the contract function declared otherwise than in lab.h, or a name
/// of the harness declared anew. `line` is the student's, with that number.
std::optional<Failure> find_breach(const std::string& error, const std::string& line, int number,
                                   const Contract& contract);

/// The breach by a section of this name, if it changes how the program is linked or started and no CUDA or C++ source
/// needs it: .interp names a different loader, .gnu.lto_.opts holds options for the linker's compiler, .dynamic names
/// libraries.
std::optional<Failure> find_section_breach(std::string_view name);

/// The line where `name (` first, or last, stands outside comments; 0 = nowhere.
enum class Which { first, last };
int line_of_call(const std::string& source, const std::string& name, Which which = Which::first);

}  // namespace warplab::compilation
