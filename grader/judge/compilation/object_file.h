#pragma once
// Reads the section names of an ELF object file, whose bytes are untrusted.

#include <functional>
#include <string_view>

namespace warplab::compilation {

/// Calls `visit` with the first 64 characters of each section's name, in the file's order, until it returns false.
/// Returns whether the bytes are a 64-bit object file, as far as they were read. Keeps nothing of them.
bool visit_section_names(std::string_view object, const std::function<bool(std::string_view)>& visit);

}  // namespace warplab::compilation
