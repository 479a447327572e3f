#pragma once
// Fuzzes the code that reads the output of compilers and nm. An input has four parts, separated by lines of ===.

#include <algorithm>
#include <string>
#include <vector>

#include "grader/judge/compile/contract.h"
#include "grader/judge/compile/diagnostics.h"
#include "grader/judge/compile/hand_in.h"
#include "grader/judge/compile/remedy.h"
#include "grader/judge/compile/symbols.h"
#include "tests/fuzz/bytes.h"

namespace warplab::fuzz {

inline const compilation::Contract contract = {"dot_product",
                                               "dot_product(int const*, unsigned long)",
                                               "void dot_product(const int*, std::size_t);",
                                               {"dot_product_host(int const*, unsigned long)"},
                                               {"warplab_run", "cudaMalloc(void**, unsigned long)"},
                                               {}};

inline void require_sound(const Failure& failure) {
    require(!failure.cause.empty() && !failure.message.empty(), "a breach has a cause and a message");
}

inline void require_places(const std::vector<compilation::Diagnostic>& diagnostics) {
    for (const auto& diagnostic : diagnostics) {
        require(diagnostic.line >= 0 && diagnostic.column >= 0, "a diagnostic's place is valid");
        require(diagnostic.kind == "error" || diagnostic.kind == "warning" || diagnostic.kind == "note",
                "a diagnostic has a kind");
    }
}

/// The parts of the input: a compiler's output, the source, the rewriter's output, nm's output.
inline void try_compiler(std::string_view bytes) {
    const std::size_t size = bytes.size();
    const std::string output = take_part(bytes), source = take_part(bytes), rewritten = take_part(bytes);
    const std::vector<compilation::Diagnostic> diagnostics = compilation::read_diagnostics(output, "student.cu");
    require_places(diagnostics);
    std::vector<compilation::Diagnostic> errors = compilation::select(diagnostics, "student.cu", "error", true);
    compilation::move_columns(errors, source, rewritten);
    compilation::omit_internal_names(errors, source);
    compilation::lead_with_open_macro(errors);
    compilation::lead_with_open_brace(errors);
    compilation::lead_with_count_of_arguments(errors);
    require(errors.size() <= diagnostics.size(), "no error is added");
    require_places(errors);
    for (const auto& error : errors)
        require(compilation::remedy_for(error, diagnostics, source).size() <= 2000 + 2 * size,
                "the length of a remedy is bounded");
    const std::string log = compilation::render(errors, source, 5);
    require(log.size() <= 1000 + 20 * size, "the length of a log is bounded");
    for (const auto& error : errors)
        if (const auto breach = compilation::find_breach(error.message, compilation::source_line(source, error.line),
                                                         error.line, contract))
            require_sound(*breach);
    const std::vector<compilation::Symbol> symbols = compilation::read_symbols(std::string(bytes));
    for (const auto& symbol : symbols) require(!symbol.name.empty(), "a symbol has a name");
    if (const auto breach = compilation::find_breach(symbols, contract, source)) require_sound(*breach);
    const std::string plain = compilation::without_comments(source);
    require(plain.size() == source.size(), "comments are blanked out");
    require(std::count(plain.begin(), plain.end(), '\n') == std::count(source.begin(), source.end(), '\n'),
            "the number of lines stays the same");
}

}  // namespace warplab::fuzz
