#pragma once
// Deterministic mutations of texts and other bytes.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace warplab::test {

/// Mutates texts. `words` are the tokens of the input's language; mutations insert them, once or many times.
class Mutator {
  public:
    Mutator(std::vector<std::string> originals, std::vector<std::string> words, std::uint32_t seed)
        : originals_(std::move(originals)), words_(std::move(words)), random_(seed) {}

    std::string next() {
        if (below(20) == 0) return random_bytes();
        std::string text = pick(originals_);
        if (below(4) == 0) text = text.substr(0, below(text.size() + 1));
        for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(text);
        return text;
    }

  private:
    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
    const std::string& pick(const std::vector<std::string>& from) { return from[below(from.size())]; }

    std::string random_bytes() {
        std::string text(below(3000), '\0');
        for (char& c : text) c = static_cast<char>(below(8) == 0 ? below(256) : 1 + below(127));
        return text;
    }

    void change(std::string& text) {
        const std::size_t at = below(text.size() + 1), length = std::min(below(40), text.size() - at);
        switch (below(8)) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, text.substr(at, length));
                break;
            case 2:
                text.insert(at, pick(words_));
                break;
            case 3:
                text.replace(at, length, pick(words_));
                break;
            case 4:
                insert_many(text, at);
                break;
            case 5:
                insert_part_of_another(text, at);
                break;
            case 6:
                replace_value(text, at);
                break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(1 + below(255));
        }
    }

    void insert_many(std::string& text, std::size_t at) {
        const auto& word = pick(words_);
        std::string repeated;
        for (std::size_t count = below(300); count > 0; --count) repeated += word;
        text.insert(at, repeated);
    }

    /// Replace the text between two commas, brackets or colons, such as a JSON value.
    void replace_value(std::string& text, std::size_t at) {
        constexpr auto ends = ",:{}[]()";
        const std::size_t begin = text.find_first_of(ends, at);
        if (begin == std::string::npos) return;
        const std::size_t end = std::min(text.find_first_of(ends, begin + 1), text.size());
        text.replace(begin + 1, end - begin - 1, pick(words_));
    }

    void insert_part_of_another(std::string& text, std::size_t at) {
        const auto& other = pick(originals_);
        text.insert(at, other.substr(below(other.size() + 1), below(200)));
    }

    std::vector<std::string> originals_, words_;
    std::mt19937 random_;
};

}  // namespace warplab::test
