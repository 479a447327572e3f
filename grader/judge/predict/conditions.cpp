#include "grader/judge/predict/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

namespace warplab::predict {
namespace {

struct Directive {
    int line = 0;
    std::string name, rest;
};

/// Return the directives of a file, without comments. A line that ends in a backslash goes on in the next one.
std::vector<Directive> directives_of(const std::string& source) {
    static const std::regex comment(R"(/\*.*?\*/|//.*$)"), directive(R"(^\s*(?:#|%:)\s*(\w+)\s*(.*)$)");
    std::vector<Directive> found;
    std::istringstream lines(source);
    std::string line, next;
    for (int number = 1; std::getline(lines, line); ++number) {
        const int first = number;
        for (; !line.empty() && line.back() == '\\' && std::getline(lines, next); ++number)
            line.replace(line.size() - 1, 1, next);
        line = std::regex_replace(line, comment, " ");
        std::smatch parts;
        if (std::regex_match(line, parts, directive)) found.push_back({first, parts[1], parts[2]});
    }
    return found;
}

std::vector<std::string> identifiers_of(const std::string& text) {
    static const std::regex identifier(R"(\b[A-Za-z_]\w*)");
    std::vector<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), identifier), end; at != end; ++at)
        found.push_back(at->str());
    return found;
}

/// The macros whose values depend on the file alone.
class OwnMacros {
  public:
    explicit OwnMacros(const std::vector<Directive>& directives) {
        for (const Directive& one : directives)
            if (one.name == "define") add(identifiers_of(one.rest));
    }
    /// Compilers define names that begin with an underscore.
    bool has(const std::string& name) const { return name == "defined" || (name[0] != '_' && names_.contains(name)); }

  private:
    void add(const std::vector<std::string>& identifiers) {
        const bool is_own = std::all_of(identifiers.begin() + !identifiers.empty(), identifiers.end(),
                                        [&](const std::string& name) { return has(name); });
        if (!identifiers.empty() && is_own) names_.insert(identifiers.front());
    }
    std::set<std::string> names_;
};

}  // namespace

std::string find_foreign_condition(const std::string& source) {
    const std::vector<Directive> directives = directives_of(source);
    const OwnMacros own(directives);
    for (const Directive& one : directives) {
        if (one.name != "if" && one.name != "ifdef" && one.name != "ifndef" && one.name != "elif") continue;
        for (const std::string& name : identifiers_of(one.rest))
            if (!own.has(name)) return fmt::format("line {} depends on {}, which may differ on a GPU", one.line, name);
    }
    return "";
}

}  // namespace warplab::predict
