#pragma once
#include <span>
#include <string>
#include <string_view>

namespace warplab {

/// Edits (insert, delete, replace, swap neighbours) that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Return the choice most similar to the typed word; empty if none is close enough.
std::string nearest(std::string_view typed, std::span<const std::string> choices);

/// ` Did you mean "x"?`, or nothing.
std::string did_you_mean(std::string_view typed, std::span<const std::string> choices);

}  // namespace warplab
