#pragma once
// The features that the CPU backend does not support, as a table: to add a refusal, add its pattern.

#include <string_view>
#include <vector>

namespace warplab::rewriter {

struct Refusal {
    /// `name`: an identifier · `name*`: all identifiers with this prefix · `name::`: one followed by :: · `a::b`: a
    /// qualified name · `name<`: a declaration with this beginning · `<name`: an #include with this beginning
    std::string_view pattern;
    std::string_view reason;   // "… cannot run on the CPU backend"
    std::string_view instead;  // the alternative, as an imperative
};

const std::vector<Refusal>& refusals();

/// Return the headers that the table's patterns for includes would refuse, but that the backend provides.
const std::vector<std::string_view>& supplied_headers();

}  // namespace warplab::rewriter
