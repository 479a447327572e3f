#include "grader/judge/sandbox/compilers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "grader/judge/sandbox/places.h"
#include "grader/judge/sandbox/process.h"

namespace warplab::sandbox {
namespace {
namespace fs = std::filesystem;

/// Return the path with links and ".." resolved; empty if it does not exist.
fs::path real(const fs::path& path) {
    std::error_code error;
    const fs::path resolved = fs::canonical(path, error);
    return error ? fs::path() : resolved;
}

void add(std::vector<fs::path>& list, const fs::path& path) {
    const fs::path resolved = real(path);
    const bool of_system =
        resolved.empty() || lies_in(resolved, "/usr") || lies_in(resolved, "/lib") || lies_in(resolved, "/lib64");
    if (!of_system && std::ranges::find(list, resolved) == list.end()) list.push_back(resolved);
}

bool is_script(const fs::path& program) {
    std::ifstream file(program, std::ios::binary);
    char begin[2] = {};
    file.read(begin, sizeof begin);
    return begin[0] == '#' && begin[1] == '!';
}

/// Return whether a program is in /usr, all of which the sandbox shows. A script, and a link into or out of /usr, do
/// not count.
bool is_of_system(const fs::path& program) {
    return lies_in(program, "/usr") && lies_in(real(program), "/usr") && !is_script(program);
}

/// Return the path by which the sandbox finds a program.
fs::path path_in_sandbox(const fs::path& program) { return is_of_system(program) ? program : real(program); }

/// Return a compiler's output. The compiler runs without a sandbox, because it is the machine's own program.
std::string ask(const fs::path& compiler, const std::vector<std::string>& options) {
    std::vector<std::string> command = {compiler.string()};
    command.insert(command.end(), options.begin(), options.end());
    Policy policy;
    policy.limits.output_bytes = 1 << 20;
    return run_to_end(command, policy).output;
}

/// Return the text after `opening` up to the end of its line.
std::string line_after(const std::string& text, const std::string& opening) {
    const std::size_t at = text.find(opening);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + opening.size();
    return text.substr(begin, text.find('\n', begin) - begin);
}

/// Return the PREFIX of PREFIX/lib/gcc/TARGET/VERSION, which g++ finds relative to itself.
fs::path prefix_of_install(const fs::path& install) {
    const fs::path folder = real(install);
    return folder.parent_path().parent_path().parent_path().parent_path();
}

/// Return the g++ driver that `found` starts; empty if it cannot be found.
fs::path driver_of(const fs::path& found, const std::string& words, const std::string& install) {
    const fs::path named = line_after(words, "COLLECT_GCC=");
    const fs::path neighbour = prefix_of_install(install) / "bin" / named.filename();
    for (const fs::path& candidate : {named.is_absolute() ? named : fs::path(), neighbour, real(found)})
        if (!named.empty() && !real(candidate).empty() && !is_script(candidate)) return candidate;
    return {};
}

/// Add a program and the library folders next to its folder.
void add_helper(std::vector<fs::path>& folders, const fs::path& program) {
    const fs::path itself = real(program);
    if (itself.empty() || lies_in(itself, "/usr")) return;
    add(folders, itself);
    for (const char* libraries : {"lib", "lib64"}) add(folders, itself.parent_path().parent_path() / libraries);
}

void add_listed(std::vector<fs::path>& folders, std::string list) {
    if (list.starts_with('=')) list.erase(0, 1);
    std::stringstream stream(list);
    for (std::string folder; std::getline(stream, folder, ':');)
        if (!folder.empty()) add(folders, folder);
}

/// Return the lines between "search starts here:" and "End of search list."
std::vector<fs::path> include_folders(const std::string& words) {
    std::vector<fs::path> folders;
    const std::size_t begin = words.find("search starts here:");
    std::stringstream lines(words.substr(std::min(begin, words.size())));
    for (std::string line; std::getline(lines, line) && !line.starts_with("End of search list");)
        if (line.starts_with(" /")) folders.push_back(real(line.substr(1)));
    return folders;
}

const std::vector<std::string> show_search = {"-E", "-v", "-x", "c++", "/dev/null"};

/// Return whether a wrapper passes options to the driver, such as the location of the driver's files. A wrapper that
/// only starts the driver, such as a cache, can be omitted.
bool wrapper_is_needed(const fs::path& found, const fs::path& driver, const std::string& words) {
    if (!is_script(real(found))) return false;
    const std::vector<fs::path> driver_includes = include_folders(ask(driver, show_search));
    return !driver_includes.empty() && driver_includes != include_folders(words);
}

std::vector<fs::path> home_folders() {
    std::vector<fs::path> homes = {"/root", "/home"};
    if (const char* home = std::getenv("HOME"); home && *home == '/') homes.push_back(real(home));
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/home", error)) homes.push_back(real(entry.path()));
    return homes;
}

}  // namespace

CompilerPlaces gcc_places(const fs::path& found) {
    if (found.empty() || is_of_system(found)) return {found, {}};
    CompilerPlaces places;
    const std::string words = ask(found, show_search);
    const std::string search = ask(found, {"-print-search-dirs"});
    const std::string install = line_after(search, "install: ");
    places.program = driver_of(found, words, install);
    if (places.program.empty()) return places;
    places.program = path_in_sandbox(places.program);
    add(places.folders, places.program);
    add(places.folders, install);
    add_listed(places.folders, line_after(search, "programs: "));
    add_listed(places.folders, line_after(search, "libraries: "));
    for (const fs::path& folder : include_folders(words)) add(places.folders, folder);
    if (wrapper_is_needed(found, places.program, words)) {
        places.program = real(found);
        add(places.folders, places.program);
    }
    return places;
}

CompilerPlaces nvcc_places(const fs::path& found) {
    if (found.empty() || is_of_system(found)) return {found, {}};
    CompilerPlaces places;
    const std::string words = ask(found, {"--dryrun", "-x", "cu", "/dev/null"});
    const std::string folder_of_nvcc = line_after(words, "#$ _HERE_=");
    const fs::path program = folder_of_nvcc.empty() ? real(found) : fs::path(folder_of_nvcc) / "nvcc";
    if (real(program).empty() || is_script(program)) return places;
    places.program = path_in_sandbox(program);
    const fs::path toolkit = real(program).parent_path().parent_path();
    for (const char* folder : {"bin", "nvvm", "include", "lib64", "lib", "targets"})
        add(places.folders, toolkit / folder);
    return places;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

std::vector<fs::path> helper_places(const std::vector<std::string>& programs) {
    std::vector<fs::path> folders;
    for (const std::string& name : programs) {
        const fs::path program = find_program(name);
        add_helper(folders, program);
        if (!program.empty() && !lies_in(program, "/usr") && !lies_in(program, "/bin")) folders.push_back(program);
    }
    return folders;
}

std::string why_unsafe(const std::vector<fs::path>& folders, const std::vector<fs::path>& secrets) {
    const auto refuse = [](const fs::path& folder, const char* how, const fs::path& secret) {
        return fmt::format(
            "The compiler needs {}, which {} {}; graded code must not see that. Use a compiler that is installed "
            "elsewhere: CXX=/usr/bin/g++ (and NVCC=/usr/local/cuda/bin/nvcc).",
            folder.string(), how, secret.string());
    };
    for (const fs::path& folder : folders) {
        for (const fs::path& home : home_folders())
            if (!home.empty() && lies_in(home, folder)) return refuse(folder, "holds the home folder", home);
        for (const fs::path& secret : secrets) {
            if (lies_in(real(secret), folder)) return refuse(folder, "holds", secret);
            if (!real(secret).empty() && lies_in(folder, real(secret))) return refuse(folder, "lies in", secret);
        }
    }
    return "";
}

}  // namespace warplab::sandbox
