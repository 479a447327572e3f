#pragma once
// A student's file before any compiler sees it.

#include <filesystem>
#include <optional>
#include <string>

#include "grader/core/report.h"

namespace warplab::compilation {

struct HandIn {
    std::string text;  // byte-order mark dropped, CRLF turned into LF
    std::optional<Failure> failure;
};

/// Reads it; missing, empty, no text, too large, or including files by a path are failures.
HandIn read_hand_in(const std::filesystem::path& file);

/// The text with comments blanked out; lines and columns stay.
std::string without_comments(const std::string& text);

}  // namespace warplab::compilation
