#pragma once
// Reads a student's file before any compiler does.

#include <optional>
#include <string>

#include "grader/judge/compile/source.h"
#include "grader/model/report.h"

namespace warplab::compilation {

struct HandIn {
    std::string text;  // byte-order mark dropped, CRLF turned into LF
    std::optional<Failure> failure;
};

/// Students may use symbolic links in their own folders. In a hand-in, a link could lead to other people's files.
enum class Links { followed, refused };

/// Return the text of a hand-in. There is a failure if the file is missing, empty, too large or not text, or if it
/// includes a file outside the hand-in; if links are refused, also if the file or the lab's folder around it is a link.
HandIn read_hand_in(const Source& source, const std::string& lab, Links links);

/// Return whether a file includes this header before its first line of code.
bool begins_with_include(const std::string& text, const std::string& header);

/// Return the text with spaces in place of comments, and of each # in a raw string, which could look like a directive.
/// Lines and columns stay the same.
std::string without_comments(const std::string& text);

}  // namespace warplab::compilation
