#pragma once
// Reads ASCII PGM pictures (P2), which may have comments and any largest value.

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "grader/model/manifest.h"

namespace warplab::heat {

/// A grey picture; values run row by row from 0 (black) to 1 (white).
struct Picture {
    std::size_t width = 0, height = 0;
    std::vector<double> values;
};

/// Parses a PGM text. Throws UsageError with the file and the line if the text is invalid.
class PgmReader {
  public:
    explicit PgmReader(const std::filesystem::path& file) : name_(file.string()) {
        std::ifstream stream(file, std::ios::binary);
        text_.assign(std::istreambuf_iterator<char>(stream), {});
        if (!stream) throw UsageError(fmt::format("{} cannot be read. Does it exist, and is it readable?", name_));
    }

    Picture read() {
        require_magic();
        const std::uint64_t width = number("the width"), height = number("the height"),
                            white = number("the largest value");
        if (width == 0 || height == 0) fail(fmt::format("the picture is {} x {}: it has no pixels", width, height));
        if (width > max_pixels || height > max_pixels / width)
            fail(fmt::format("the picture is {} x {}; at most {} pixels are read", width, height, max_pixels));
        if (white == 0) fail("the largest value is 0, so no pixel could be brighter than black");
        Picture picture{width, height, {}};
        // Do not reserve memory, because a short file can claim to be large.
        for (std::uint64_t i = 0; i < width * height; ++i) {
            const std::uint64_t value = number(fmt::format("pixel {} of row {}", i % width, i / width).c_str());
            if (value > white)
                fail(fmt::format("pixel {} of row {} is {}, more than the largest value, {}", i % width, i / width,
                                 value, white));
            picture.values.push_back(static_cast<double>(value) / static_cast<double>(white));
        }
        skip_space();
        if (at_ < text_.size()) fail(fmt::format("there is data after the {} pixels", width * height));
        return picture;
    }

  private:
    static constexpr std::uint64_t max_pixels = 1 << 28;

    [[noreturn]] void fail(const std::string& what) const {
        throw UsageError(fmt::format("{}:{}: {}.", name_, line_, what));
    }

    void require_magic() {
        const std::string magic = text_.substr(0, 2);
        if (magic == "P2") {
            at_ = 2;
            return;
        }
        if (magic.size() == 2 && magic[0] == 'P' && magic[1] >= '1' && magic[1] <= '7')
            fail(
                fmt::format("this is a {} file; only P2 (grey, as text) is supported. Convert it, for example with "
                            "`magick in -compress none out.pgm`",
                            magic));
        fail("this is not a supported PGM picture: it must begin with P2");
    }

    /// Skip white space, and comments from # to the end of the line.
    void skip_space() {
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '#')
                while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
            else if (text_[at_] == '\n')
                ++line_;
            else if (text_[at_] != ' ' && text_[at_] != '\t' && text_[at_] != '\r' && text_[at_] != '\v' &&
                     text_[at_] != '\f')
                return;
        }
    }

    std::uint64_t number(const char* what) {
        const std::size_t before = at_;
        skip_space();
        if (at_ == text_.size()) fail(fmt::format("the file ends where {} should be", what));
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        const std::size_t after = static_cast<std::size_t>(end - text_.data());
        if (error != std::errc() || value > 0xffffffffu || before == at_ || !ends_number(after))
            fail(fmt::format("{} should be a whole number, but is \"{}\"", what, word_here()));
        at_ = after;
        return value;
    }

    bool ends_number(std::size_t at) const {
        return at == text_.size() || text_[at] == '#' || std::isspace(static_cast<unsigned char>(text_[at]));
    }

    /// Return a few of the next characters, in printable form.
    std::string word_here() const {
        std::string word;
        for (std::size_t i = at_; i < text_.size() && !ends_number(i) && word.size() < 20; ++i)
            word += text_[i] > ' ' && text_[i] < 127 ? text_[i] : '?';
        return word;
    }

    std::string name_, text_;
    std::size_t at_ = 0, line_ = 1;
};

}  // namespace warplab::heat
