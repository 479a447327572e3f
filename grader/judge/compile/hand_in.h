#pragma once
// Reads a student's file before any compiler does.

#include <filesystem>
#include <optional>
#include <string>

#include "grader/model/report.h"

namespace warplab::compilation {

struct HandIn {
    std::string text;  // byte-order mark dropped, CRLF turned into LF
    std::optional<Failure> failure;
};

/// In students' own folders, symbolic links are their choice. In a hand-in, links could lead to other people's files.
enum class Links { followed, refused };

/// Return whether it is a file that is small enough for a hand-in. Read no other one: it may be larger than the memory.
bool may_be_hand_in(const std::filesystem::path& file);

/// Read a hand-in. It fails if it is missing, empty, too large or not text, or if it includes files by a path. If links
/// are refused, it also fails if the file or the lab's folder around it is a link.
HandIn read_hand_in(const std::filesystem::path& file, const std::string& lab, Links links);

/// Return the text without comments, and without the # of what only looks like a directive in a raw string; lines and
/// columns stay the same.
std::string without_comments(const std::string& text);

}  // namespace warplab::compilation
