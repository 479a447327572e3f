// The command line of build/warplab.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <type_traits>

#include "grader/common/nearest.h"
#include "grader/common/utf8.h"
#include "grader/judge/cli/verbs.h"
#include "grader/model/manifest.h"
#include "grader/model/version.h"

namespace {

using warplab::Options;
using Verb = std::function<int(const Options&)>;

/// The positional arguments of a verb.
enum class Takes { nothing, optional_lab, lab, lab_and_stage };

struct Entry {
    const char* name;
    const char* about;
    Verb run;
    Takes takes = Takes::nothing;
    const char* without_stage = "all";
};

const std::vector<Entry>& entries() {
    static const std::vector<Entry> all = {
        {.name = "list",
         .about = "List the labs, the stages and your progress.",
         .run = warplab::list_labs,
         .takes = Takes::optional_lab},
        {.name = "start",
         .about = "Copy a lab's starters into the work folder; never overwrite a file.",
         .run = warplab::start,
         .takes = Takes::lab},
        {.name = "check",
         .about = "Compile a stage and check it on the public datasets. Without STAGE: every stage you started.",
         .run = warplab::check,
         .takes = Takes::lab},
        {.name = "watch",
         .about = "Check a stage of the lab whenever its file is saved, beginning with STAGE.",
         .run = warplab::watch,
         .takes = Takes::lab,
         .without_stage = "the one edited last"},
        {.name = "bench",
         .about = "Check a stage, then time 1000 iterations of it on the GPU.",
         .run = warplab::bench,
         .takes = Takes::lab},
        {.name = "grade",
         .about = "Grade all stages: verdicts, causes, points and times. Without LAB: all labs.",
         .run = warplab::grade,
         .takes = Takes::optional_lab},
        {.name = "compile",
         .about = "Compile a lab's stages in advance for grade.",
         .run = warplab::compile_for_grading,
         .takes = Takes::lab},
        {.name = "baselines",
         .about = "Measure the CPU's times of a lab's datasets in advance for bench and grade.",
         .run = warplab::measure_baselines,
         .takes = Takes::lab},
        {.name = "sweep",
         .about = "Time a stage with each value of its tunables, and show the best one.",
         .run = warplab::sweep,
         .takes = Takes::lab_and_stage},
        {.name = "device",
         .about = "Show the GPU's limits, the occupancy of each stage's launches, and the bound for each lab.",
         .run = warplab::show_device,
         .takes = Takes::optional_lab},
        {.name = "profile",
         .about = "Run a stage under Nsight Compute (and Nsight Systems, if it is installed).",
         .run = warplab::profile,
         .takes = Takes::lab_and_stage},
        {.name = "sanitize",
         .about = "Run a stage under compute-sanitizer's memcheck, racecheck, initcheck and synccheck.",
         .run = warplab::sanitize,
         .takes = Takes::lab_and_stage},
        {.name = "inspect",
         .about = "Find races, invalid accesses and slow code, line by line, without a GPU.",
         .run = warplab::inspect,
         .takes = Takes::lab_and_stage},
        {.name = "show",
         .about = "Write pictures and tables of your code's results to BUILD/show/LAB, if the lab has any.",
         .run = warplab::show,
         .takes = Takes::lab,
         .without_stage = "the last one you started"},
        {.name = "peers",
         .about = "Time library functions, for comparison with the reference solutions, on the GPU.",
         .run = warplab::peers,
         .takes = Takes::optional_lab},
        {.name = "import",
         .about = "Add a report from another machine, such as an instructor's GPU, to the journal.",
         .run = warplab::import},
        {.name = "prepare",
         .about = "Compile the runner and the backend, which every check links.",
         .run = warplab::prepare_harness},
        {.name = "flags",
         .about = "Print the g++ flags for students' files and the runtime on the CPU backend, for make.",
         .run = warplab::print_flags},
    };
    return all;
}

/// Return whether a word is in a list of words separated by spaces.
bool has_word(const char* words, const char* word) {
    return fmt::format(" {} ", words).find(fmt::format(" {} ", word)) != std::string::npos;
}

bool takes(const char* verb, const warplab::OptionWords& words) {
    return (!*words.verbs || has_word(words.verbs, verb)) && !has_word(words.except, verb);
}

template <typename Field>
void bind(CLI::App& command, Field& field, const warplab::OptionWords& words) {
    if constexpr (std::is_same_v<Field, bool>) {
        command.add_flag(words.name, field, words.about);
    } else {
        CLI::Option* option = command.add_option(words.name, field, words.about)->required(words.required);
        if (words.shows_default) option->capture_default_str();
        if (words.lowest < words.highest) option->check(CLI::Range(words.lowest, words.highest));
    }
}

void add_options(CLI::App& command, const Entry& entry, Options& options) {
    if (entry.takes != Takes::nothing) {
        command.add_option("LAB", options.lab, "the lab's name")->required(entry.takes != Takes::optional_lab);
        const bool needs_stage = entry.takes == Takes::lab_and_stage;
        command.add_option("STAGE", options.stage,
                           fmt::format("a number (2), a slug or a whole id{}{}", needs_stage ? "" : "; without it, ",
                                       needs_stage ? "" : entry.without_stage));
    }
    options.each([&](auto& field, const warplab::OptionWords& words) {
        if (takes(entry.name, words)) bind(command, field, words);
    });
}

std::string no_such_verb(const std::string& typed) {
    std::vector<std::string> verbs;
    for (const Entry& entry : entries()) verbs.push_back(entry.name);
    const std::string about = typed.empty()
                                  ? "The verb is missing."
                                  : fmt::format("There is no verb {}.{}", typed, warplab::did_you_mean(typed, verbs));
    return fmt::format("{} Verbs: {}. --help describes each verb.", about, fmt::join(verbs, ", "));
}

/// Print a message, which may quote untrusted files.
int complain(const std::string& message) {
    fmt::print(stderr, "{}\n", warplab::to_printable(message));
    return 2;
}

/// Make OpenMP's threads spin less: by default, a waiting thread spins for a millisecond or longer and occupies a core
/// that another thread needs. On a busy machine, a check of the heat lab took six times longer. With a GPU the threads
/// may spin, because a speedup must be relative to the CPU's best time. libgomp reads the limit when it is loaded, so
/// the program restarts itself.
void limit_spinning(char** arguments) {
    if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY")) return;
    if (std::filesystem::exists("/dev/nvidiactl") || std::filesystem::exists("/dev/dxg")) return;
    setenv("GOMP_SPINCOUNT", "10000", 1);
    std::error_code unknown;
    execv(std::filesystem::read_symlink("/proc/self/exe", unknown).c_str(), arguments);
}

int run(const Verb& verb, const Options& options) {
    try {
        if (!std::filesystem::exists(options.folders.root / "labs"))
            return complain("There is no folder labs/ here. Run this from the project's own folder.");
        return verb(options);
    } catch (const warplab::ManifestError& error) {
        return complain(fmt::format("A lab's own files are wrong. {}", error.what()));
    } catch (const warplab::UsageError& error) {
        return complain(error.what());
    } catch (const std::bad_alloc&) {
        return complain("This machine has too little free memory for this command.");
    } catch (const std::exception& error) {
        return complain(fmt::format("The judge failed, not your code: {}", error.what()));
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    limit_spinning(arguments);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // beyond `ulimit -f`, writing fails with a message
    CLI::App app{"Warplab: checks and times CUDA labs, on a GPU or without one."};
    app.name("warplab");
    app.set_version_flag("--version", warplab::version());
    app.require_subcommand(1);
    app.footer("Exit status: 0 all passed, 1 something failed, 2 the judge failed or the command was invalid.");
    Options options;
    const Entry* chosen = nullptr;
    for (const Entry& entry : entries()) {
        CLI::App* command = app.add_subcommand(entry.name, entry.about);
        add_options(*command, entry, options);
        command->callback([&chosen, &entry] { chosen = &entry; });
    }
    try {
        app.parse(argument_count, arguments);
    } catch (const CLI::CallForHelp& help) {
        return app.exit(help);
    } catch (const CLI::CallForVersion& version) {
        return app.exit(version);
    } catch (const CLI::RequiredError& error) {
        if (app.get_subcommands().empty()) return complain(no_such_verb(argument_count > 1 ? arguments[1] : ""));
        return complain(fmt::format("{}. `./warplab {} --help` lists the options.", error.what(),
                                    app.get_subcommands().front()->get_name()));
    } catch (const CLI::ParseError& error) {
        return complain(fmt::format("{}. `./warplab --help` lists the verbs, `./warplab VERB --help` their options.",
                                    error.what()));
    }
    return run(chosen->run, options);
}
