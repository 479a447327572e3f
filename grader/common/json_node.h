#pragma once
// Reads JSON and records each value's place, so that error messages can state it.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "grader/common/json.h"

namespace warplab {

/// Thrown for an invalid value, or for text that is not JSON.
class JsonError : public std::runtime_error {
  public:
    /// Keep only the beginning of a long message, because it may quote the text.
    JsonError(std::string where, const std::string& message);
    const std::string place;  // a JSON pointer, or "line 3, column 7" for text that is not JSON
};

/// Parse strictly: no comments, no duplicate key in an object. Throws JsonError.
Json parse_json(std::string_view text);

/// One value in a document. Every reader throws JsonError with the value's place if the value has another type.
class JsonNode {
  public:
    explicit JsonNode(const Json& value, std::string place = "") : value_(&value), place_(std::move(place)) {}

    const Json& value() const { return *value_; }
    const std::string& place() const { return place_; }
    [[noreturn]] void fail(const std::string& message) const { throw JsonError(place_, message); }

    void require_object() const;
    /// Require an object with only these keys, none of them null. The error for a misspelt key suggests the most
    /// similar one.
    void require_only(const std::vector<std::string>& known) const;
    JsonNode at(const std::string& key) const;                   // fails if the key is missing
    std::optional<JsonNode> find(const std::string& key) const;  // nothing if it is missing or null
    std::vector<JsonNode> items() const;                         // the elements of an array

    std::string text() const;
    std::string filled_text() const;  // not empty
    bool boolean() const;
    double number() const;
    std::int64_t integer() const;
    std::uint64_t natural() const;  // 0 or more

  private:
    [[noreturn]] void fail_expecting(const std::string& expected) const;
    const Json* value_;
    std::string place_;
};

}  // namespace warplab
