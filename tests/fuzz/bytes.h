#pragma once
// Helpers for the fuzz targets: they read values from arbitrary bytes, and report a broken invariant.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warplab::fuzz {

inline void require(bool holds, const char* invariant) {
    if (!holds) throw std::logic_error(std::string("broken: ") + invariant);
}

/// Remove the text before the first line of === from the input, and the line, too, and return the text. Without such a
/// line, return all of the input.
inline std::string take_part(std::string_view& bytes) {
    constexpr std::string_view separator = "\n===\n";
    const std::string_view text = bytes.substr(0, bytes.find(separator));
    bytes.remove_prefix(std::min(bytes.size(), text.size() + separator.size()));
    return std::string(text);
}

/// Reads values from the front of an input. Past the end of the input, bytes are 0.
class Bytes {
  public:
    explicit Bytes(std::string_view input) : rest_(input) {}

    bool empty() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

    template <class T>
    void read(T& value, std::size_t max_bytes = sizeof(T)) {
        const std::string_view part = text(std::min(max_bytes, sizeof value));
        std::memcpy(static_cast<void*>(&value), part.data(), part.size());
    }

    template <class T>
    T take() {
        T value{};
        read(value);
        return value;
    }

    std::string_view text(std::size_t max_bytes) {
        const std::string_view part = rest_.substr(0, max_bytes);
        rest_.remove_prefix(part.size());
        return part;
    }

  private:
    std::string_view rest_;
};

}  // namespace warplab::fuzz
