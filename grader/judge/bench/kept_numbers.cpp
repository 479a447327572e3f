#include "grader/judge/bench/kept_numbers.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "grader/common/json.h"
#include "grader/judge/compile/cache.h"

namespace warplab {
namespace {

Json read_kept(const std::filesystem::path& file) {
    std::ifstream stream(file);
    Json all = stream ? Json::parse(stream, nullptr, false) : Json::object();
    return all.is_object() ? all : Json::object();
}

}  // namespace

std::optional<std::vector<double>> find_numbers(const std::filesystem::path& file, const std::string& name,
                                                std::size_t count) {
    const Json all = read_kept(file);
    const auto iterator = all.find(name);
    if (iterator == all.end() || !iterator->is_array() || iterator->size() != count) return std::nullopt;
    if (!std::all_of(iterator->begin(), iterator->end(), [](const Json& number) { return number.is_number(); }))
        return std::nullopt;
    return iterator->get<std::vector<double>>();
}

std::vector<double> keep_numbers(const std::filesystem::path& file, const std::string& name, std::size_t count,
                                 const std::function<std::vector<double>()>& measure) {
    const compilation::CacheLock lock(file.parent_path());
    if (const auto kept = find_numbers(file, name, count)) return *kept;
    const std::vector<double> times = measure();
    if (times.size() != count) return times;
    Json all = read_kept(file);
    all[name] = times;
    const std::filesystem::path fresh = file.string() + ".new";
    std::ofstream(fresh) << all.dump(1) << "\n";
    std::filesystem::rename(fresh, file);
    return times;
}

}  // namespace warplab
