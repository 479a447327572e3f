#pragma once
// Reads the section names of an ELF object file, whose bytes are untrusted.

#include <functional>
#include <string_view>

namespace warplab::compilation {

/// Call `visit` with the first 64 characters of each section's name, in the file's order, until it returns false.
/// Return false if the bytes that had to be read for this are not those of a 64-bit object file.
bool visit_section_names(std::string_view object, const std::function<bool(std::string_view)>& visit);

}  // namespace warplab::compilation
