#pragma once
// Checks whether a student's object file meets the contract: it must define the function with the right signature, and
// nothing that belongs to the grader.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grader/judge/compile/symbols.h"
#include "grader/model/report.h"

namespace warplab::compilation {

/// The functions that a lab's driver calls. All names are demangled, except those in `offered`.
struct Contract {
    std::string function;               // dot_product
    std::string signature;              // dot_product(int const*, int const*, int*, unsigned long, void*)
    std::string declaration;            // as lab.h writes it
    std::vector<std::string> optional;  // signatures of functions that may be defined
    std::set<std::string> reserved;     // names that the harness defines
    std::vector<std::string> offered;   // functions that the driver may call: a student's object exports only these
};

/// Return the first breach, if any. `source` is the student's text, used to find line numbers.
std::optional<Failure> find_breach(const std::vector<Symbol>& symbols, const Contract& contract,
                                   const std::string& source);

/// Return the breach that a compiler's error indicates: the contract function's declaration differs from lab.h, or the
/// file redeclares a name of the harness. `line` is the text of the student's line `number`.
std::optional<Failure> find_breach(const std::string& error, const std::string& line, int number,
                                   const Contract& contract);

/// Return the breach if a section of this name changes how the program is linked or started and no CUDA or C++ source
/// needs it: .interp names a different loader, .gnu.lto_.opts holds options for the linker's compiler, .dynamic names
/// libraries.
std::optional<Failure> find_section_breach(std::string_view name);

enum class Occurrence { first, last };
/// Return the line of the first or last `name (` outside comments; 0 if there is none.
int line_of_call(const std::string& source, const std::string& name, Occurrence occurrence = Occurrence::first);

}  // namespace warplab::compilation
