#include "grader/common/json_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "grader/common/nearest.h"

namespace warplab {
namespace {

constexpr std::size_t max_parser_bytes = 200, max_message_bytes = 1000;  // bytes of the parser's text, and of a message
constexpr int max_levels = 100;  // nesting levels; copying a value takes stack for each level

std::string line_and_column(std::string_view text, std::size_t byte) {
    const auto before = text.substr(0, byte == 0 ? 0 : std::min(byte - 1, text.size()));
    const auto line = 1 + std::ranges::count(before, '\n');
    const auto line_start = before.rfind('\n');
    const auto column = before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
    return fmt::format("line {}, column {}", line, column);
}

/// Return the text; if it is longer than `max_bytes`, only its beginning and "…".
std::string start_of(const std::string& text, std::size_t max_bytes) {
    return text.size() <= max_bytes ? text : text.substr(0, max_bytes) + "…";
}

/// Return the parser's message without its own prefix and position.
std::string parser_words(std::string words) {
    for (const std::string_view prefix : {"] ", "parse error at ", "syntax error "}) {
        const auto at = words.find(prefix);
        if (at != std::string::npos) words = words.substr(at + prefix.size());
    }
    return start_of(words, max_parser_bytes);
}

std::string escape_pointer(const std::string& key) {
    std::string escaped;
    for (const char c : key) escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return escaped;
}

/// Records the first key that occurs twice in an object. The parser would silently keep only one of the values.
class DuplicateKeys {
  public:
    bool operator()(Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start) open_.emplace_back();
        if (event == Json::parse_event_t::object_end) open_.pop_back();
        if (event == Json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second)
            if (first.empty()) first = parsed.get<std::string>();
        return true;
    }
    std::string first;

  private:
    std::vector<std::set<std::string>> open_;
};

}  // namespace

JsonError::JsonError(std::string where, const std::string& message)
    : std::runtime_error(start_of(message, max_message_bytes)), place(std::move(where)) {}

Json parse_json(std::string_view text) {
    DuplicateKeys duplicates;
    try {
        auto document = Json::parse(text, [&](int level, Json::parse_event_t event, Json& parsed) {
            if (level > max_levels)
                throw JsonError("", fmt::format("its values are nested in more than {} levels", max_levels));
            return duplicates(event, parsed);
        });
        if (!duplicates.first.empty())
            throw JsonError(
                "", fmt::format("the key \"{}\" occurs twice in one object; keep one of them", duplicates.first));
        return document;
    } catch (const Json::parse_error& error) {
        throw JsonError(line_and_column(text, error.byte),
                        fmt::format("this is not valid JSON: {}. Look for an extra or missing comma, or a missing "
                                    "quote, at this place or just before it",
                                    parser_words(error.what())));
    } catch (const Json::exception& error) {
        throw JsonError("", fmt::format("this JSON cannot be read: {}", parser_words(error.what())));
    }
}

void JsonNode::fail_expecting(const std::string& expected) const {
    fail(fmt::format("expected {}, found {}", expected,
                     value_->is_structured() || value_->is_null() ? value_->type_name() : value_->dump()));
}

void JsonNode::require_object() const {
    if (!value_->is_object()) fail_expecting("an object {…}");
}

void JsonNode::require_only(const std::vector<std::string>& known) const {
    require_object();
    for (const auto& [key, value] : value_->items()) {
        if (value.is_null()) fail(fmt::format("\"{}\" is null; give it a value, or omit the key", key));
        if (std::ranges::find(known, key) != known.end()) continue;
        fail(
            fmt::format("unknown key \"{}\".{} Known keys: {}", key, did_you_mean(key, known), fmt::join(known, ", ")));
    }
}

JsonNode JsonNode::at(const std::string& key) const {
    require_object();
    const auto iterator = value_->find(key);
    if (iterator == value_->end()) fail(fmt::format("the key \"{}\" is missing; add it", key));
    return JsonNode(*iterator, place_ + "/" + escape_pointer(key));
}

std::optional<JsonNode> JsonNode::find(const std::string& key) const {
    require_object();
    const auto iterator = value_->find(key);
    if (iterator == value_->end() || iterator->is_null()) return std::nullopt;
    return JsonNode(*iterator, place_ + "/" + escape_pointer(key));
}

std::vector<JsonNode> JsonNode::items() const {
    if (!value_->is_array()) fail_expecting("a list […]");
    std::vector<JsonNode> nodes;
    for (const auto& item : *value_) nodes.emplace_back(item, fmt::format("{}/{}", place_, nodes.size()));
    return nodes;
}

std::string JsonNode::text() const {
    if (!value_->is_string()) fail_expecting("text in double quotes");
    return value_->get<std::string>();
}

std::string JsonNode::filled_text() const {
    auto words = text();
    if (words.find_first_not_of(" \t\r\n") == std::string::npos) fail("this text is empty; write at least a word");
    return words;
}

bool JsonNode::boolean() const {
    if (!value_->is_boolean()) fail_expecting("true or false");
    return value_->get<bool>();
}

double JsonNode::number() const {
    if (!value_->is_number()) fail_expecting("a number");
    return value_->get<double>();
}

std::int64_t JsonNode::integer() const {
    const bool too_large = value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX;
    if (!value_->is_number_integer() || too_large) fail_expecting("a whole number");
    return value_->get<std::int64_t>();
}

std::uint64_t JsonNode::natural() const {
    const bool negative =
        !value_->is_number_unsigned() && value_->is_number_integer() && value_->get<std::int64_t>() < 0;
    if (!value_->is_number_integer() || negative) fail_expecting("a whole number, 0 or more");
    return value_->get<std::uint64_t>();
}

}  // namespace warplab
