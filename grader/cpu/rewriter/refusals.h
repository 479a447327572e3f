#pragma once
// What the CPU backend does not support, as a table: adding a refusal is adding a line.

#include <string_view>
#include <vector>

namespace warplab::rewriter {

struct Refusal {
    /// `name` an identifier · `name*` all that begin so · `name::` one with :: after it · `a::b` a qualified name ·
    /// `name<` a declaration that begins so · `<name` an #include that begins so
    std::string_view pattern;
    std::string_view reason;   // "… cannot run on the CPU backend"
    std::string_view instead;  // what to do, as an imperative
};

const std::vector<Refusal>& refusals();

/// Headers that the table's patterns for includes would refuse, and that the backend has.
const std::vector<std::string_view>& supplied_headers();

}  // namespace warplab::rewriter
