#pragma once
// What a lab's show.cpp implements, if it has one: pictures of what a student's code computes (`make show`). It is
// linked into the lab's oracle and only the judge loads it.

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
    std::filesystem::path folder;                 // where files are written: there, and empty

    /// Throws UsageError naming a setting that the lab does not know, and those it knows.
    void require_only(std::initializer_list<std::string_view> names) const {
        std::string known;
        for (const std::string_view name : names) known += (known.empty() ? "" : ", ") + std::string(name);
        for (const auto& [name, value] : settings)
            if (std::ranges::find(names, name) == names.end())
                throw UsageError(fmt::format("There is no setting \"{}\" here. This lab knows: {}.", name,
                                             known.empty() ? "none" : known));
    }

    std::string text(const std::string& name, const std::string& usual) const {
        const auto found = settings.find(name);
        return found == settings.end() ? usual : found->second;
    }

    /// A number between low and high; `usual` when it is not set. Throws UsageError.
    double number(const std::string& name, double usual, double low, double high) const {
        const auto found = settings.find(name);
        if (found == settings.end()) return usual;
        std::size_t used = 0;
        double value = std::nan("");
        try {
            value = std::stod(found->second, &used);
        } catch (const std::exception&) {
        }
        if (used == found->second.size() && value >= low && value <= high) return value;
        throw UsageError(fmt::format("{}={}: give a number from {} to {}.", name, found->second, low, high));
    }
};

/// One run of the command: calls of the student's function, and the output made from their results. All functions throw
/// UsageError if the command makes no sense.
class Show {
  public:
    virtual ~Show() = default;

    /// Return the next call to make, filled as Oracle::generate fills it; nothing if there is none. Later calls may
    /// depend on the results of earlier ones.
    virtual std::optional<Problem> next_call() = 0;

    /// The call just made, with what the student's code left in the outputs (NaN where it wrote nothing), and how long
    /// it took: kernels only on a GPU, all of it on the CPU backend. Returns what is to be printed, whole lines or "".
    virtual std::string take(const Problem& done, double call_s) = 0;

    /// Write the remaining files into the request's folder. Returns the text to print.
    virtual std::string finish() = 0;
};

/// Every lab's show.cpp defines this. If labs/<lab>/show.py exists, it is run too, with the folder as its only
/// argument, to draw from the files what needs Python.
extern "C" std::unique_ptr<Show> warplab_show(const ShowRequest& request);

}  // namespace warplab
