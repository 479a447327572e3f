#pragma once
// Conversions between JSON and single fields (text, numbers, lists …). grader/model/schema/generate.py writes the types
// that consist of such fields.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "grader/common/json_node.h"
#include "grader/common/utf8.h"

namespace warplab {

template <class T>
concept Enum = std::is_enum_v<T>;

inline constexpr std::size_t max_text_bytes = 1'000'000;  // a compiler's log is the longest text

/// Bounds of a finite number. JSON contains a word ("nan", "inf", "-inf") if the number is not finite.
struct BoundsOrWord {
    double min, max;
};
/// The maximum number of items of a list.
struct AtMost {
    std::size_t items;
};

// Some values come from a submission's process, so writers enforce the bounds that readers require.

/// Write text. Bytes that are not UTF-8 become U+FFFD, because a compiler may quote a Latin-1 file. A long text is cut.
inline Json to_json(const std::string& text) {
    std::string valid = to_valid_utf8(text);
    if (valid.size() <= max_text_bytes) return valid;
    std::size_t end = max_text_bytes;
    while (end > 0 && (static_cast<unsigned char>(valid[end]) & 0xC0) == 0x80) --end;
    return valid.substr(0, end);
}
inline Json to_json(bool value) { return value; }
inline Json to_json(int value) { return value; }
inline Json to_json(std::uint64_t value) { return value; }
/// Write NaN and infinity, which JSON does not have, as words.
inline Json to_json(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}
template <class Number>
Json to_json(Number value, std::type_identity_t<Number> min, std::type_identity_t<Number> max) {
    return std::clamp(value == value ? value : Number{}, min, max);  // NaN differs from itself
}
inline Json to_json(double value, BoundsOrWord bounds) {
    return std::isfinite(value) ? Json(std::clamp(value, bounds.min, bounds.max)) : to_json(value);
}
template <Enum E>
Json to_json(E value) {
    return names_of(value).at(static_cast<std::size_t>(value));
}
/// Write an optional field; `bounds` are those of the value.
template <class T, class... Bounds>
Json to_json(const std::optional<T>& value, Bounds... bounds) {
    return value ? to_json(*value, bounds...) : Json();
}
template <class T>
Json to_json(const std::vector<T>& values) {
    auto list = Json::array();
    for (const auto& value : values) list.push_back(to_json(value));
    return list;
}
/// Write a list; `bounds` are those of each item.
template <class T, class... Bounds>
Json to_json(const std::vector<T>& values, AtMost max, Bounds... bounds) {
    auto list = Json::array();
    for (std::size_t i = 0; i < std::min(values.size(), max.items); ++i) list.push_back(to_json(values[i], bounds...));
    return list;
}

/// Write named integers as an object, in their order.
inline Json to_json(const std::vector<std::pair<std::string, std::int64_t>>& integers) {
    auto object = Json::object();
    for (const auto& [name, value] : integers) object[name] = value;
    return object;
}

inline void require_at_most(const JsonNode& node, std::size_t length, std::size_t max, const char* units) {
    if (length > max)
        node.fail(fmt::format("{} {} exceed the limit of {}; no program of the kit writes such a large file", length,
                              units, max));
}

/// Read text and make it harmless, so that code that prints it cannot change a terminal.
inline void from_json(const JsonNode& node, std::string& field) {
    const auto text = node.text();
    require_at_most(node, text.size(), max_text_bytes, "bytes of text");
    field = to_harmless(text);
}

inline void from_json(const JsonNode& node, bool& field) { field = node.boolean(); }

inline void from_json(const JsonNode& node, std::uint64_t& field) { field = node.natural(); }

template <class T>
void require_between(const JsonNode& node, T value, T min, T max) {
    if (value < min || value > max) node.fail(fmt::format("{} is not between {} and {}", value, min, max));
}

inline void from_json(const JsonNode& node, int& field, int min = std::numeric_limits<int>::min(),
                      int max = std::numeric_limits<int>::max()) {
    const auto value = node.integer();
    require_between<std::int64_t>(node, value, min, max);
    field = static_cast<int>(value);
}

inline void from_json(const JsonNode& node, std::vector<std::pair<std::string, std::int64_t>>& field) {
    node.require_object();
    field.clear();
    for (const auto& [name, value] : node.value().items())
        field.emplace_back(to_harmless(name), node.at(name).integer());
}

inline void from_json(const JsonNode& node, double& field, double min, double max) {
    field = node.number();
    require_between(node, field, min, max);
}

inline void from_json(const JsonNode& node, double& field, BoundsOrWord bounds) {
    if (!node.value().is_string()) return from_json(node, field, bounds.min, bounds.max);
    const auto word = node.text();
    if (word == "nan")
        field = std::numeric_limits<double>::quiet_NaN();
    else if (word == "inf")
        field = std::numeric_limits<double>::infinity();
    else if (word == "-inf")
        field = -std::numeric_limits<double>::infinity();
    else
        node.fail(fmt::format("expected a number, \"nan\", \"inf\" or \"-inf\", found \"{}\"", word));
}

template <Enum E>
void from_json(const JsonNode& node, E& field) {
    const auto word = node.text();
    const auto names = names_of(field);
    const auto iterator = std::ranges::find(names, word);
    if (iterator == names.end())
        node.fail(fmt::format("\"{}\" is not valid here; expected one of {}", word, fmt::join(names, ", ")));
    field = static_cast<E>(iterator - names.begin());
}

/// Read the value of an optional field; `bounds` are those of the value.
template <class T, class... Bounds>
void from_json(const JsonNode& node, std::optional<T>& field, Bounds... bounds) {
    from_json(node, field.emplace(), bounds...);
}

/// Read a list; `bounds` are those of each item.
template <class T, class... Bounds>
void from_json(const JsonNode& node, std::vector<T>& field, AtMost max, Bounds... bounds) {
    field.clear();
    const auto items = node.items();
    require_at_most(node, items.size(), max.items, "items");
    for (const auto& item : items) from_json(item, field.emplace_back(), bounds...);
}

}  // namespace warplab
