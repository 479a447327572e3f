#pragma once
// Reads the section names of an ELF object file, whose bytes are untrusted.

#include <functional>
#include <string_view>

namespace warplab::compilation {

/// Call `visit` with the first 64 characters of each section's name, in the file's order, until it returns false.
/// Return whether the bytes that were read belong to a 64-bit object file. No reference to them is kept.
bool visit_section_names(std::string_view object, const std::function<bool(std::string_view)>& visit);

}  // namespace warplab::compilation
