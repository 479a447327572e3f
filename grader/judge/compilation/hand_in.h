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

/// Symbolic links in a student's own folder are the student's choice; in a hand-in, they name somebody else's files.
enum class Links { followed, refused };

/// Read it; missing, empty, no text, too large, or including files by a path are failures. If links are refused,
/// neither the file nor the folder of the lab around it may be one.
HandIn read_hand_in(const std::filesystem::path& file, const std::string& lab, Links links);

/// The text with comments blanked out; lines and columns stay.
std::string without_comments(const std::string& text);

}  // namespace warplab::compilation
