#pragma once
// A student's file before any compiler sees it.

#include <filesystem>
#include <optional>
#include <string>

#include "grader/model/report.h"

namespace warplab::compilation {

struct HandIn {
    std::string text;  // byte-order mark dropped, CRLF turned into LF
    std::optional<Failure> failure;
};

/// In a student's own folder, symbolic links are the student's choice. In a hand-in, they lead to other people's files.
enum class Links { followed, refused };

/// Read a hand-in. It fails if it is missing, empty, too large, or no text, or if it includes files by a path. If links
/// are refused, neither the file nor the lab's folder around it may be one.
HandIn read_hand_in(const std::filesystem::path& file, const std::string& lab, Links links);

/// The text with comments blanked out; lines and columns stay.
std::string without_comments(const std::string& text);

}  // namespace warplab::compilation
