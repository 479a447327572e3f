#pragma once
// Stores measurements that depend only on the machine in a JSON file: a list of numbers for each name.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplab {

/// Return the `count` numbers that the file has for `name`; nothing if it has fewer.
std::optional<std::vector<double>> find_numbers(const std::filesystem::path& file, const std::string& name,
                                                std::size_t count);

/// Return the file's numbers or, if it has none, measure and store them. Meanwhile, judges of other GPUs wait, and then
/// use the result. An empty result is not kept. `measure` must neither compile nor keep other numbers: both take the
/// same lock.
std::vector<double> keep_numbers(const std::filesystem::path& file, const std::string& name, std::size_t count,
                                 const std::function<std::vector<double>()>& measure);

}  // namespace warplab
