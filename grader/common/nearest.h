#pragma once
#include <span>
#include <string>
#include <string_view>

namespace warplab {

/// Return the minimum number of edits (insert, delete, replace, swap neighbours) that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Return the choice that is most similar to the typed word; empty if none is similar enough.
std::string nearest(std::string_view typed, std::span<const std::string> choices);

/// Return ` Did you mean "x"?`, or an empty string.
std::string did_you_mean(std::string_view typed, std::span<const std::string> choices);

}  // namespace warplab
