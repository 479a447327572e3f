#include "grader/judge/compile/harness.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "grader/common/hash.h"
#include "grader/common/parallel.h"
#include "grader/common/read_file.h"
#include "grader/judge/compile/cache.h"
#include "grader/judge/compile/hand_in.h"
#include "grader/judge/compile/symbols.h"
#include "grader/judge/compile/toolchain.h"
#include "grader/judge/sandbox/process.h"

namespace warplab::compilation {
namespace {
namespace fs = std::filesystem;

/// Return the files below `folder` that `is_included` accepts, as paths relative to `root`, sorted.
std::vector<fs::path> files_below(const fs::path& root, const fs::path& folder,
                                  const std::function<bool(const fs::path&)>& is_included) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder, error))
        if (entry.is_regular_file(error) && is_included(entry.path()))
            files.push_back(entry.path().lexically_relative(root));
    std::ranges::sort(files);
    return files;
}

std::string hash_of(const fs::path& root, const std::vector<fs::path>& files, const std::string& extra) {
    std::string text = extra;
    for (const auto& file : files) text += '\0' + file.string() + '\0' + sha256_file(root / file);
    return sha256(text);
}

std::string join(const Flags& words) {
    std::string text;
    for (const auto& word : words) text += word + '\0';
    return text;
}

/// Copy a file and make the copy readable by every user, regardless of the umask: sandboxed compilers run as other
/// users.
void copy_for_everyone(const fs::path& from, const fs::path& to) {
    fs::create_directories(to.parent_path());
    fs::copy_file(from, to);
    chmod(to.c_str(), 0644);
}

void make_readable_for_everyone(const fs::path& folder) {
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        chmod(entry.path().c_str(), entry.is_directory() ? 0755 : 0644);
}

/// Run a command that compiles the project's own sources, without a sandbox.
void run_trusted(const std::vector<std::string>& command) {
    Policy policy;
    policy.limits.wall_s = 300;
    policy.limits.memory_bytes = 16ull << 30;
    policy.limits.processes = 4096;
    const Ended ended = run_to_end(command, policy);
    if (ended.how != End::exited || ended.status != 0)
        throw std::runtime_error("a part of the grader itself does not compile here:\n" + ended.start_error +
                                 ended.output);
}

/// Start the commands in this order, one per core and at most 8 at a time.
void run_all(const std::vector<std::vector<std::string>>& commands) {
    constexpr std::size_t max_at_once = 8;
    for_each_index(commands.size(), std::min(count_cores(), max_at_once),
                   [&](std::size_t i) { run_trusted(commands[i]); });
}

/// The part of the harness that is the same for all labs.
struct Base {
    fs::path folder;
    std::string hash;
    std::vector<std::string> objects;
};

constexpr auto harness_object = "harness.o";  // the harness of the CPU backend
constexpr auto precompiled_header = "precompiled.h";

bool is_source(const fs::path& path) { return path.extension() == ".cpp"; }
bool is_any_file(const fs::path&) { return true; }
bool is_code(const fs::path& path) { return path.extension() != ".md"; }

/// Return the runtime's sources. The largest takes longest and comes first, so that no core waits for it at the end.
std::vector<fs::path> runtime_sources(const fs::path& root) {
    std::vector<fs::path> sources = files_below(root, "grader/cpu/runtime", is_source);
    std::ranges::stable_sort(sources, std::greater(), [&](const fs::path& path) { return fs::file_size(root / path); });
    return sources;
}

std::string object_name(const fs::path& source) { return source.stem().string() + ".o"; }

std::string base_hash(const fs::path& root, Backend backend) {
    std::vector<fs::path> files = files_below(root, "grader/runner", is_any_file);
    const auto add = [&](const fs::path& folder, const std::function<bool(const fs::path&)>& is_included) {
        const auto included = files_below(root, folder, is_included);
        files.insert(files.end(), included.begin(), included.end());
    };
    add("grader/io", [](const fs::path& path) { return path.extension() == ".h"; });
    if (backend == Backend::cpu) {
        add("grader/cpu/include", is_any_file);
        add("grader/cpu/runtime", is_code);  // an archive for a course system has no README
        files.push_back("grader/cpu/control.h");
    }
    return hash_of(root, files,
                   join(harness_flags(backend)) +
                       (backend == Backend::cpu ? join(student_cpu_flags()) + join(sanitizer_flags()) +
                                                      join(fast_cpu_flags()) + join(traced_cpu_flags())
                                                : "") +
                       compiler_identity(find_cxx()) +
                       (backend == Backend::cuda ? compiler_identity(find_nvcc()) : ""));
}

std::vector<std::string> compile_command(const fs::path& root, Backend backend, const fs::path& include,
                                         const fs::path& source, const fs::path& object) {
    std::vector<std::string> command = {find_cxx().string()};
    for (const auto& flag : harness_flags(backend)) command.push_back(flag);
    if (backend == Backend::cpu) command.push_back("-fvisibility=hidden");
    const char* language = source.extension() == ".h" ? "c++-header" : "c++";
    command.insert(command.end(), {"-I" + include.string(), "-I" + root.string(), "-x", language, "-c", source.string(),
                                   "-o", object.string()});
    return command;
}

std::vector<std::string> student_header_command(const fs::path& include, const fs::path& precompiled,
                                                const std::vector<Flags>& more) {
    std::vector<std::string> command = {find_cxx().string()};
    const auto add = [&](const Flags& flags) { command.insert(command.end(), flags.begin(), flags.end()); };
    add(student_cpu_flags());
    for (const Flags& flags : more) add(flags);
    add({"-I" + include.string(), "-x", "c++-header", (include / "cuda_runtime.h").string(), "-o",
         precompiled.string()});
    return command;
}

/// Precompile what students' files and the runtime include.
void precompile_headers(const fs::path& root, const fs::path& include, const fs::path& runtime_header) {
    // g++ uses the file in a .gch folder that was compiled with the same flags.
    const fs::path precompiled = include / "cuda_runtime.h.gch";
    fs::create_directory(precompiled);
    std::vector<std::vector<std::string>> commands = {
        compile_command(root, Backend::cpu, include, runtime_header, runtime_header.string() + ".gch")};
    for (const auto& [name, flags] :
         {std::pair{"graded", sanitizer_flags()}, {"fast", fast_cpu_flags()}, {"traced", traced_cpu_flags()}}) {
        commands.push_back(student_header_command(include, precompiled / name, {flags}));
        commands.push_back(student_header_command(include, precompiled / fmt::format("{}-algorithm", name),
                                                  {flags, {algorithm_flag}}));
    }
    run_all(commands);
}

void require_compilers(Backend backend) {
    if (find_cxx().empty())
        throw std::runtime_error(
            "g++ is not installed, or is a script that does not start g++; install it with: apt-get install g++, "
            "and type: export CXX=/usr/bin/g++");
    if (backend == Backend::cpu) return;
    if (find_nvcc().empty())
        throw std::runtime_error("nvcc is not installed; install the CUDA Toolkit, or use BACKEND=cpu");
    if (cuda_include().empty() || cuda_library().empty())
        throw std::runtime_error(
            fmt::format("the CUDA Toolkit of {} lacks cuda_runtime.h or libcudart_static.a", find_nvcc().string()));
}

enum class Names { demangled, mangled };

std::vector<Symbol> symbols_of(const fs::path& object, Names how = Names::demangled) {
    Policy policy;
    policy.limits.output_bytes = 8 << 20;
    std::vector<std::string> command = {"nm", "--no-sort", object.string()};
    if (how == Names::demangled) command.push_back("-C");
    const Ended names = run_to_end(command, policy);
    if (names.how != End::exited || names.status != 0)
        throw std::runtime_error("nm (from the package binutils) does not run: " + names.start_error + names.output);
    return read_symbols(names.output);
}

void write_reserved(const std::vector<fs::path>& objects, const fs::path& folder) {
    std::ofstream file(folder / "reserved");
    file << "!_start\n";  // defined in the C library's start files
    for (const auto& object : objects)
        for (const Symbol& symbol : symbols_of(object))
            if (symbol.defined_strongly() && symbol.name != "main") file << '!' << symbol.name << '\n';
}

/// Make one object that exports only main and the names that grader/cpu/include declares, so that a submission cannot
/// refer to any other name.
fs::path join_objects(const std::vector<fs::path>& objects, const fs::path& folder) {
    const fs::path joined = folder / "joined.o", harness = folder / harness_object;
    std::vector<std::string> join = {find_cxx().string(), "-r", "-nostdlib", "-Wl,--force-group-allocation", "-o",
                                     joined.string()};
    for (const auto& object : objects) join.push_back(object.string());
    run_trusted(join);
    run_trusted({"objcopy", "--localize-hidden", joined.string(), harness.string()});
    for (const auto& object : objects) fs::remove(object);
    fs::remove(joined);
    return harness;
}

void build_base(const fs::path& root, Backend backend, const fs::path& folder) {
    const fs::path include = folder / "include", runtime_header = folder / precompiled_header;
    copy_for_everyone(root / "grader/runner/cuda_check.h", include / "grader/runner/cuda_check.h");
    std::vector<std::vector<std::string>> commands;
    std::vector<fs::path> sources = {"grader/runner/runner.cpp",
                                     fmt::format("grader/runner/backend_{}.cpp", backend_name(backend))};
    if (backend == Backend::cpu) {
        for (const auto& file : files_below(root, "grader/cpu/include", is_any_file))
            copy_for_everyone(root / file, include / fs::relative(file, "grader/cpu/include"));
        copy_for_everyone(root / "grader/cpu/runtime" / precompiled_header, runtime_header);
        precompile_headers(root, include, runtime_header);
        const std::vector<fs::path> runtime = runtime_sources(root);
        sources.insert(sources.begin(), runtime.begin(), runtime.end());
    }
    std::vector<fs::path> objects;
    for (const auto& source : sources) {
        objects.push_back(folder / object_name(source));
        commands.push_back(compile_command(root, backend, include, root / source, objects.back()));
        if (backend == Backend::cpu)
            commands.back().insert(commands.back().end(), {"-include", runtime_header.string()});
    }
    run_all(commands);
    fs::remove(runtime_header);
    fs::remove(runtime_header.string() + ".gch");
    if (backend == Backend::cpu)
        objects = {join_objects(objects, folder)};
    else
        objects.push_back(cuda_library() / "libcudart_static.a");
    write_reserved(objects, folder);
    make_readable_for_everyone(folder);
}

Base base_for(const fs::path& root, const fs::path& cache, Backend backend) {
    Base base;
    base.hash = base_hash(root, backend);
    base.objects = {"runner.o", "backend_cuda.o"};
    if (backend == Backend::cpu) base.objects = {harness_object};
    const std::string name = fmt::format("harness-{}-{}", backend_name(backend), base.hash.substr(0, 16));
    if (const auto found = find_cached(cache, name)) {
        base.folder = *found;
        return base;
    }
    const CacheLock lock(cache);
    if (const auto found = find_cached(cache, name)) {
        base.folder = *found;
        return base;
    }
    WorkFolder work(cache);
    build_base(root, backend, work.path());
    base.folder = work.publish(name);
    return base;
}

/// Return the contract's declaration in lab.h, without comments, on one line.
std::string declaration_in(const std::string& header, const std::string& function) {
    std::string text;
    std::istringstream lines(without_comments(header));
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with('#')) text += line + ' ';
    const std::size_t name = text.find(' ' + function + '('), end = text.find(')', name);
    if (end == std::string::npos) return function;
    std::istringstream words(text.substr(0, end + 1).substr(text.find_last_of(";{}", name) + 1));
    std::string declaration;
    for (std::string word; words >> word;) declaration += (declaration.empty() ? "" : " ") + word;
    return declaration;
}

/// Write a line for each of these: the signature after "=", the declaration after ":", optional signatures after "?",
/// reserved names after "!", and after "+" the symbols that a submission's object offers the driver.
void write_contract(const fs::path& root, const std::string& lab, const fs::path& folder) {
    std::ofstream file(folder / "contract");
    std::string signature;
    const std::vector<Symbol> symbols = symbols_of(folder / "driver.o"),
                              mangled = symbols_of(folder / "driver.o", Names::mangled);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        const Symbol& symbol = symbols[i];
        const bool is_contract = symbol.kind == 'U' && symbol.function() == lab;
        const bool is_optional = symbol.kind == 'w' && symbol.function().starts_with(lab + "_");
        if (is_contract) signature = symbol.name;
        if (is_optional) file << '?' << symbol.name << '\n';
        if (is_contract || is_optional) file << '+' << mangled.at(i).name << '\n';
        if (symbol.defined_strongly()) file << '!' << symbol.name << '\n';
    }
    if (signature.empty()) throw std::runtime_error(fmt::format("labs/{0}/driver.cu does not call {0}(…)", lab));
    file << '=' << signature << '\n' << ':' << declaration_in(read_file(root / "labs" / lab / "lab.h"), lab) << '\n';
}

void read_contract(const fs::path& path, Contract& contract) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.empty()) continue;
        const std::string content = line.substr(1);
        if (line[0] == '=') contract.signature = content;
        if (line[0] == ':') contract.declaration = content;
        if (line[0] == '?') contract.optional.push_back(content);
        if (line[0] == '!') contract.reserved.insert(content);
        if (line[0] == '+') contract.offered.push_back(content);
    }
}

fs::path lab_folder(const fs::path& root, const fs::path& cache, Backend backend, const std::string& lab,
                    const Base& base, const std::string& hash) {
    const std::string name = fmt::format("driver-{}-{}-{}", backend_name(backend), lab, hash.substr(0, 16));
    if (const auto found = find_cached(cache, name)) return *found;
    WorkFolder work(cache);
    const fs::path sources = root / "labs" / lab;
    for (const auto& file : files_below(sources, "", [](const fs::path& path) { return path.extension() == ".h"; }))
        copy_for_everyone(sources / file, work.path() / "include/labs" / lab / file);
    run_trusted(
        compile_command(root, backend, base.folder / "include", sources / "driver.cu", work.path() / "driver.o"));
    write_contract(root, lab, work.path());
    make_readable_for_everyone(work.path());
    return work.publish(name);
}

/// Return a copy of the rewriter that every user may run, regardless of the umask with which it was built.
fs::path rewriter_for(const fs::path& build, const fs::path& cache) {
    const fs::path built = build / "cpu" / "rewrite";
    if (!fs::exists(built)) throw std::runtime_error(fmt::format("{} is missing: type make program", built.string()));
    const std::string name = "rewriter-" + sha256_file(built).substr(0, 16);
    if (const auto folder = find_cached(cache, name)) return *folder / "rewrite";
    WorkFolder work(cache);
    fs::copy_file(built, work.path() / "rewrite");
    chmod((work.path() / "rewrite").c_str(), 0755);
    return work.publish(name) / "rewrite";
}

}  // namespace

Harness harness_for(const fs::path& root, const fs::path& build, const fs::path& cache, Backend backend,
                    const std::string& lab) {
    require_compilers(backend);
    const fs::path absolute_root = fs::absolute(root);
    const Base base = base_for(absolute_root, cache, backend);
    const auto files = files_below(absolute_root, fs::path("labs") / lab, [](const fs::path& path) {
        return path.extension() == ".h" || path.filename() == "driver.cu";
    });
    Harness harness;
    harness.hash = hash_of(absolute_root, files, base.hash);
    const fs::path folder = lab_folder(absolute_root, cache, backend, lab, base, harness.hash);
    harness.contract.function = lab;
    read_contract(base.folder / "reserved", harness.contract);
    read_contract(folder / "contract", harness.contract);
    harness.folders = {base.folder, folder};
    harness.includes = {"-I" + (base.folder / "include").string(), "-I" + (folder / "include").string(),
                        "-I" + (folder / "include/labs" / lab).string()};
    if (backend == Backend::cpu) {
        harness.rewriter = rewriter_for(fs::absolute(build), cache);
        harness.folders.push_back(harness.rewriter.parent_path());
    }
    for (const auto& object : base.objects) harness.link.push_back(base.folder / object);
    harness.link.push_back(folder / "driver.o");
    return harness;
}

}  // namespace warplab::compilation
