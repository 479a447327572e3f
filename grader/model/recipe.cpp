#include "grader/model/recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/common/nearest.h"

namespace warplab {
namespace {

std::string format_parameter(const Parameter& parameter) {
    if (const auto* word = std::get_if<std::string>(&parameter)) return "\"" + *word + "\"";
    return std::visit([](const auto& value) { return fmt::format("{}", value); }, parameter);
}

/// Return the parameter; null if it is missing and not needed. Throw ManifestError if it is missing and needed.
const Parameter* find(const Dataset& dataset, std::string_view name, bool needed) {
    const auto iterator = dataset.parameters.find(name);
    if (iterator != dataset.parameters.end()) return &iterator->second;
    if (needed) throw recipe_error(dataset, fmt::format("the parameter \"{}\" is missing", name));
    return nullptr;
}

ManifestError wrong_type(const Dataset& dataset, std::string_view name, const Parameter& value,
                         std::string_view expected) {
    return recipe_error(dataset, fmt::format("\"{}\" is {}, not {}", name, format_parameter(value), expected));
}

}  // namespace

std::string format_parameters(const Parameters& parameters) {
    std::string text;
    for (const auto& [name, value] : parameters)
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, format_parameter(value));
    return text;
}

ManifestError recipe_error(const Dataset& dataset, const std::string& what) {
    return {dataset.file, dataset.place, fmt::format("dataset \"{}\": {}", dataset.name, what)};
}

ManifestError unknown_generator(const Dataset& dataset, std::vector<std::string> names) {
    std::ranges::sort(names);
    return recipe_error(dataset, fmt::format("there is no generator \"{}\".{} Choose one of: {}", dataset.generator,
                                             did_you_mean(dataset.generator, names), fmt::join(names, ", ")));
}

std::int64_t read_size(const Dataset& dataset, std::string_view name, std::optional<std::int64_t> fallback) {
    const Parameter* value = find(dataset, name, !fallback);
    if (!value) return *fallback;
    const auto* size = std::get_if<std::int64_t>(value);
    if (!size || *size < 0) throw wrong_type(dataset, name, *value, "a whole number ≥ 0");
    return *size;
}

double read_number(const Dataset& dataset, std::string_view name, std::optional<double> fallback) {
    const Parameter* value = find(dataset, name, !fallback);
    if (!value) return *fallback;
    if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
    if (const auto* number = std::get_if<double>(value)) return *number;
    throw wrong_type(dataset, name, *value, "a number");
}

std::string read_word(const Dataset& dataset, std::string_view name, std::optional<std::string> fallback) {
    const Parameter* value = find(dataset, name, !fallback);
    if (!value) return *fallback;
    if (const auto* word = std::get_if<std::string>(value)) return *word;
    throw wrong_type(dataset, name, *value, "a word in quotes");
}

void require_only(const Dataset& dataset, std::initializer_list<std::string_view> names) {
    for (const auto& [name, value] : dataset.parameters)
        if (std::ranges::find(names, name) == names.end())
            throw recipe_error(dataset, fmt::format("the generator knows no parameter \"{}\"", name));
}

}  // namespace warplab
