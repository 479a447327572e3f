#pragma once
// Stores numbers that take long to measure or compute in a JSON file: a list of numbers for each name.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplab {

/// Return the file's numbers for `name`; nothing if the file does not have exactly `count` numbers for it.
std::optional<std::vector<double>> find_numbers(const std::filesystem::path& file, const std::string& name,
                                                std::size_t count);

/// Return the file's numbers for `name` or, if it has none, measure and store them. Judges that need them meanwhile
/// wait, and then use the result. A result that does not have `count` numbers is returned, but not stored. `measure`
/// must neither compile nor call keep_numbers(): both take the same lock.
std::vector<double> keep_numbers(const std::filesystem::path& file, const std::string& name, std::size_t count,
                                 const std::function<std::vector<double>()>& measure);

}  // namespace warplab
