#include "grader/judge/compile/hand_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "grader/common/text.h"
#include "grader/model/cause.h"

namespace warplab::compilation {
namespace {
namespace fs = std::filesystem;

constexpr std::size_t max_name_bytes = 200;
constexpr std::size_t max_delimiter_bytes = 16;  // the C++ standard's limit for a raw string's delimiter

HandIn refuse(const char* cause, std::string message, std::string hint) {
    return {"", Failure{cause, std::move(message), std::move(hint)}};
}

std::string with_plain_line_ends(const std::string& text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') plain += text[i];
    return plain;
}

bool is_utf16(const std::string& text) { return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"); }

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n\f\v") == std::string::npos; }

/// Return the length of the raw string literal that begins at `at` (its R), 0 if none does. A literal without an end
/// reaches to the end of the text, as for the compiler.
std::size_t length_of_raw_string(const std::string& text, std::size_t at) {
    if (text.compare(at, 2, "R\"") != 0) return 0;
    std::size_t begin = at;  // where the word that ends with this R begins
    while (begin > 0 && is_word_character(text[begin - 1])) --begin;
    const std::string encoding = text.substr(begin, at - begin);
    if (!encoding.empty() && encoding != "L" && encoding != "u" && encoding != "U" && encoding != "u8") return 0;
    const std::size_t open = text.find_first_of("() \\\"\t\v\f\n", at + 2);
    if (open == std::string::npos || text[open] != '(' || open - at - 2 > max_delimiter_bytes) return 0;
    const std::string close = ")" + text.substr(at + 2, open - at - 2) + "\"";
    const std::size_t end = text.find(close, open);
    return (end == std::string::npos ? text.size() : end + close.size()) - at;
}

/// Return the length of the number that begins at `at`, 0 if none does. Its digits may be separated: 1'000'000.
std::size_t length_of_number(const std::string& text, std::size_t at) {
    const bool continues_word = at > 0 && is_word_character(text[at - 1]);
    if (continues_word || !std::isdigit(static_cast<unsigned char>(text[at]))) return 0;
    const auto has_word_at = [&](std::size_t i) { return i < text.size() && is_word_character(text[i]); };
    std::size_t end = at;
    while (has_word_at(end) || (text[end] == '\'' && has_word_at(end + 1))) ++end;
    return end - at;
}

/// Replace each # of a raw string by a space, so that no line of the string looks like a directive.
void blank_out_hashes(std::string& text, std::size_t at, std::size_t length) {
    std::replace(text.begin() + static_cast<long>(at), text.begin() + static_cast<long>(at + length), '#', ' ');
}

/// Return the file that a line includes, "" if the line is not an #include. %: is another spelling of #.
std::string included_by(const std::string& line) {
    std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || (line[at] != '#' && line.compare(at, 2, "%:") != 0)) return "";
    at = line.find_first_not_of(" \t", at + (line[at] == '#' ? 1 : 2));
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) return "";
    at = line.find_first_of("\"<", at);
    if (at == std::string::npos) return "";
    return line.substr(at + 1, line.find_first_of("\">", at + 1) - at - 1);
}

bool leaves_the_folder(const fs::path& path) {
    return path.is_absolute() || std::ranges::find(path, "..") != path.end();
}

std::optional<Failure> find_bad_include(const std::string& text) {
    std::stringstream lines(without_comments(text));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        for (std::string continuation; line.ends_with('\\') && std::getline(lines, continuation); ++number)
            line.replace(line.size() - 1, 1, continuation);
        const std::string name = included_by(line);
        if (leaves_the_folder(name))
            return Failure{cause::compile_error,
                           fmt::format("Line {} includes \"{}\", a file outside the hand-in.", number,
                                       shorten(name, max_name_bytes)),
                           "A hand-in is one file: copy what you need into it."};
    }
    return std::nullopt;
}

/// Return the reason why a file could not be read.
HandIn refuse_unread(const fs::path& file) {
    std::error_code error;
    const std::string name = file.string();
    if (fs::is_directory(file, error))
        return refuse(cause::missing_file, fmt::format("{} is a folder, not a file.", name),
                      "Pass the .cu file itself.");
    if (fs::is_symlink(file, error) && !fs::exists(file, error))
        return refuse(
            cause::missing_file,
            fmt::format("{} is a link to {}, which does not exist.", name, fs::read_symlink(file, error).string()),
            "Put the file itself there, or remove the link and type make start.");
    if (fs::exists(file, error) && !fs::is_regular_file(file, error))
        return refuse(cause::missing_file, fmt::format("{} is not a regular file, but a pipe or a device.", name),
                      "Remove it, and put the .cu file itself there.");
    if (!fs::is_regular_file(file, error))
        return refuse(cause::missing_file, fmt::format("There is no file {}.", name),
                      "Copy the starter there (make start) or check the name.");
    const std::uintmax_t bytes = fs::file_size(file, error);
    if (bytes != static_cast<std::uintmax_t>(-1) && bytes > Source::max_bytes)
        return refuse(cause::compile_error,
                      fmt::format("{} has {} bytes; a hand-in may have at most {}.", name, bytes, Source::max_bytes),
                      "Is it the right file?");
    return refuse(cause::missing_file, fmt::format("{} cannot be read.", name),
                  fmt::format("Check its permissions: chmod u+r {}", name));
}

}  // namespace

std::string without_comments(const std::string& text) {
    enum { code, line_comment, comment, string, character } state = code;
    std::string plain = text;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
        if ((state == comment || state == line_comment) && c != '\n') plain[i] = ' ';
        if (const std::size_t length = state == code ? length_of_raw_string(text, i) : 0; length > 0) {
            blank_out_hashes(plain, i, length);
            i += length - 1;
        } else if (const std::size_t digits = state == code ? length_of_number(text, i) : 0; digits > 0) {
            i += digits - 1;
        } else if (c == '\n' && state != comment) {
            if (i == 0 || text[i - 1] != '\\') state = code;
        } else if (state == code && c == '/' && (next == '/' || next == '*')) {
            state = next == '/' ? line_comment : comment;
            plain[i] = plain[i + 1] = ' ';
            ++i;
        } else if (state == comment && c == '*' && next == '/') {
            plain[++i] = ' ';
            state = code;
        } else if ((state == string || state == character) && c == '\\') {
            if (next != '\n') ++i;
        } else if (state == code && (c == '"' || c == '\'')) {
            state = c == '"' ? string : character;
        } else if ((state == string && c == '"') || (state == character && c == '\'')) {
            state = code;
        }
    }
    return plain;
}

bool begins_with_include(const std::string& text, const std::string& header) {
    std::stringstream lines(without_comments(text));
    for (std::string line; std::getline(lines, line);) {
        const std::string name = included_by(line);
        if (name == header) return true;
        if (name.empty() && !is_blank(line)) return false;
    }
    return false;
}

HandIn read_hand_in(const Source& source, const std::string& lab, Links links) {
    const fs::path folder = source.file().parent_path();
    const bool in_a_link = source.is_in_a_link() && folder.filename() == lab;
    const std::string name = source.file().string();
    if (links == Links::refused && (source.is_link() || in_a_link))
        return refuse(cause::missing_file,
                      fmt::format("{} is a symbolic link; the judge does not follow links in hand-ins.",
                                  source.is_link() ? name : folder.string()),
                      "Hand in the files themselves.");
    if (!source.bytes()) return refuse_unread(source.file());
    std::string text = *source.bytes();
    if (is_utf16(text))
        return refuse(cause::compile_error, fmt::format("{} is saved as UTF-16, which no compiler reads.", name),
                      "Save it as UTF-8 (in most editors: save with encoding).");
    if (text.find('\0') != std::string::npos)
        return refuse(cause::compile_error, fmt::format("{} is not a text file.", name),
                      "Hand in the .cu source, not an object file, a program or an archive.");
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    if (is_blank(text))
        return refuse(cause::empty_file, fmt::format("{} is empty.", name),
                      "Was it saved? You can begin with the starter of this stage.");
    text = with_plain_line_ends(text);
    return {text, find_bad_include(text)};
}

}  // namespace warplab::compilation
