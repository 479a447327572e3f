#pragma once
// The interface of a lab's optional show.cpp, which draws pictures of the results of a student's code (`make show`). It
// is linked into the lab's oracle, and only the judge loads it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "grader/judge/lab/oracle.h"
#include "grader/model/manifest.h"

namespace warplab {

/// The parsed command: make show LAB=… IMAGE=file SET="name=value name=value".
struct ShowRequest {
    std::filesystem::path image;                  // empty: the lab's own picture
    std::map<std::string, std::string> settings;  // by name; empty values are allowed
    std::filesystem::path folder;                 // for the files; it exists and is empty

    /// Throw UsageError if the lab does not know a setting. The message names this setting and those that the lab
    /// knows.
    void require_only(std::initializer_list<std::string_view> names) const {
        std::string known_names;
        for (const std::string_view name : names) known_names += (known_names.empty() ? "" : ", ") + std::string(name);
        for (const auto& [name, value] : settings)
            if (std::ranges::find(names, name) == names.end())
                throw UsageError(fmt::format("This lab has no setting \"{}\". Its settings: {}.", name,
                                             known_names.empty() ? "none" : known_names));
    }

    std::string text(const std::string& name, const std::string& fallback) const {
        const auto iterator = settings.find(name);
        return iterator == settings.end() ? fallback : iterator->second;
    }

    /// Return a setting, which must be from low to high; `fallback` if it is not set. Throw UsageError if it is out of
    /// range.
    double number(const std::string& name, double fallback, double low, double high) const {
        const auto iterator = settings.find(name);
        if (iterator == settings.end()) return fallback;
        std::size_t length = 0;  // of the number
        double value = std::nan("");
        try {
            value = std::stod(iterator->second, &length);
        } catch (const std::exception&) {
        }
        if (length == iterator->second.size() && value >= low && value <= high) return value;
        throw UsageError(fmt::format("{}={}: give a number from {} to {}.", name, iterator->second, low, high));
    }
};

/// One run of the command: it calls the student's function and makes output from the results. All functions throw
/// UsageError if the command is invalid.
class Show {
  public:
    virtual ~Show() = default;

    /// Return the next call to make, filled as Oracle::generate fills it; nothing if there is none. Later calls may
    /// depend on the results of earlier ones.
    virtual std::optional<Problem> next_call() = 0;

    /// Process the results of the last call: its outputs (real elements that the student's code did not write are NaN)
    /// and its time (on a GPU, of the kernels alone; on the CPU backend, of the whole call). Return complete lines to
    /// print, or "".
    virtual std::string take(const Problem& results, double call_s) = 0;

    /// Write the remaining files into the request's folder. Return the text to print.
    virtual std::string finish() = 0;
};

/// Every show.cpp defines this function. If labs/<lab>/show.py exists, it runs afterwards, with the request's folder as
/// its only argument, to draw pictures that need Python.
extern "C" std::unique_ptr<Show> warplab_show(const ShowRequest& request);

}  // namespace warplab
