#pragma once
// What the fuzz targets share: reading values out of any bytes, and saying that a promise is broken.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warplab::fuzz {

inline void require(bool holds, const char* promise) {
    if (!holds) throw std::logic_error(std::string("broken: ") + promise);
}

/// Move the text up to a line of === from the front of an input; without such a line, the whole input.
inline std::string take_part(std::string_view& bytes) {
    constexpr std::string_view between = "\n===\n";
    const std::string_view text = bytes.substr(0, bytes.find(between));
    bytes.remove_prefix(std::min(bytes.size(), text.size() + between.size()));
    return std::string(text);
}

/// Values from the front of an input; where it ends, the rest of a value is 0.
class Bytes {
  public:
    explicit Bytes(std::string_view input) : rest_(input) {}

    bool empty() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

    template <class T>
    void read(T& value, std::size_t most = sizeof(T)) {
        const std::string_view part = text(std::min(most, sizeof value));
        std::memcpy(static_cast<void*>(&value), part.data(), part.size());
    }

    template <class T>
    T take() {
        T value{};
        read(value);
        return value;
    }

    std::string_view text(std::size_t most) {
        const std::string_view part = rest_.substr(0, most);
        rest_.remove_prefix(part.size());
        return part;
    }

  private:
    std::string_view rest_;
};

}  // namespace warplab::fuzz
