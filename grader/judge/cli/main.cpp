// The command line of build/warplab.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <functional>

#include "grader/common/nearest.h"
#include "grader/common/utf8.h"
#include "grader/judge/cli/verbs.h"
#include "grader/model/manifest.h"
#include "grader/model/version.h"

namespace {

using warplab::Options;
using Verb = std::function<int(const Options&)>;

struct Entry {
    const char* name;
    const char* about;
    Verb run;
    bool takes_lab, needs_lab, needs_stage;
    bool shows = false;
};

const std::vector<Entry>& entries() {
    static const std::vector<Entry> all = {
        {"list", "The labs, the stages and where you stand in each.", warplab::list_labs, true, false, false},
        {"start", "Copy a lab's starters into the work folder; never over a file that is there.", warplab::start, true,
         true, false},
        {"check", "Compile a stage and check it on the public datasets. Without STAGE: every stage you started.",
         warplab::check, true, true, false},
        {"bench", "Check a stage, then time 1000 iterations of it on the GPU.", warplab::bench, true, true, false},
        {"grade", "Verdicts, causes, points and timing of all stages. Without LAB: of all labs.", warplab::grade, true,
         false, false},
        {"compile", "Compile a lab's stages as grade does, and no more: then grade finds them compiled.",
         warplab::compile_for_grading, true, true, false},
        {"baselines", "Measure the CPU's times of a lab's datasets, which bench and grade then find measured.",
         warplab::measure_baselines, true, true, false},
        {"sweep", "Time a stage over the values of its tunables and say which is best.", warplab::sweep, true, true,
         true},
        {"device", "The GPU's limits, what each stage's launches occupy, and what bounds each lab on it.",
         warplab::show_device, true, false, false},
        {"profile", "Run a stage under Nsight Compute (and Nsight Systems, where it is).", warplab::profile, true, true,
         true},
        {"sanitize", "Run a stage under compute-sanitizer's memcheck, racecheck, initcheck and synccheck.",
         warplab::sanitize, true, true, true},
        {"inspect", "Look for races, accesses out of bounds and the like, line by line, without a GPU.",
         warplab::inspect, true, true, true},
        {"show", "Pictures and tables of what your code computes, in BUILD/show/LAB, for labs that have some.",
         warplab::show, true, true, false, true},
        {"peers", "Time library functions beside the reference solutions, on the GPU.", warplab::peers, true, false,
         false},
        {"import", "Add a report that was made elsewhere, as on an instructor's GPU, to the journal.", warplab::import,
         false, false, false},
        {"prepare", "Compile ahead what every check links: the runner and the backend.", warplab::prepare_harness,
         false, false, false},
    };
    return all;
}

void add_judging_options(CLI::App& command, Options& options) {
    command.add_option("--dataset", options.dataset, "this dataset only; shows the code's own output");
    command.add_flag("--no-cuda-only", options.no_cuda_only,
                     "check, grade: skip the datasets that take a GPU, on one too");
    command.add_flag("--no-check-mode", options.no_check_mode,
                     "check, bench, grade: leave check mode out; quicker, and hygiene points are pending");
    command.add_flag("--no-nvcc", options.no_nvcc,
                     "grade, inspect: do not ask nvcc about the file on the CPU backend; quicker");
    command.add_option("--json", options.json, "also write the report to this file");
    command.add_option(
        "--metrics", options.metrics,
        "profile: only these metrics of Nsight Compute, with commas between, as CSV of the first launches");
    command.add_option("--report-dir", options.report_dir,
                       "grade: write LAB.json into this folder (default: BUILD/report)");
    command
        .add_option("--sample-seconds", options.sample_s,
                    "bench, grade: the longest a timing sample takes; shorter is quicker and less sure")
        ->check(CLI::Range(0.05, 1.0))
        ->capture_default_str();
    command.add_flag("--force", options.force, "time on the CPU backend too; marked as such");
    command.add_flag("--unsafe", options.unsafe, "grade without a sandbox where none can be had");
}

void add_options(CLI::App& command, const Entry& entry, Options& options) {
    if (entry.takes_lab) {
        auto* lab = command.add_option("LAB", options.lab, "the lab's name");
        if (entry.needs_lab) lab->required();
        const char* without = entry.needs_stage ? ""
                              : entry.shows     ? "; without it, the last one you started"
                                                : "; without it, all";
        command.add_option("STAGE", options.stage, std::string("a number (2), a slug or a whole id") + without);
    }
    if (entry.shows) {
        command.add_option("--image", options.image, "the picture to work on; without it, the lab's own");
        command.add_option("--set", options.settings, "NAME=VALUE …: the lab's settings; an unknown name lists them");
    }
    if (std::string(entry.name) == "inspect")
        command.add_option("--gpu", options.gpu, "reckon with this GPU's limits: H200, A100, T4, RTX3080 ...");
    if (std::string(entry.name) == "grade" || std::string(entry.name) == "compile")
        command.add_option("--upto", options.upto, "the last stage to grade; without it, all");
    if (std::string(entry.name) == "grade")
        command.add_flag("--unscored", options.unscored, "also time the datasets whose times count for no points");
    if (std::string(entry.name) == "import")
        command.add_option("--report", options.report, "a report.json")->required();
    command.add_option("--backend", options.backend, "cuda or cpu; without it, cuda where there is a GPU");
    command.add_option("--source", options.source, "judge this file as the stage");
    command.add_option("--tree", options.tree, "work (default), solutions, starter or a folder with the stages' files");
    command.add_option("--work", options.work, "the student's folder")->capture_default_str();
    command.add_option("--build", options.build, "where programs and caches are")->capture_default_str();
    if (!entry.shows) add_judging_options(command, options);
}

std::string no_such_verb(const std::string& typed) {
    std::vector<std::string> verbs;
    for (const Entry& entry : entries()) verbs.push_back(entry.name);
    const std::string about = typed.empty()
                                  ? "Say what to do."
                                  : fmt::format("There is no verb {}.{}", typed, warplab::did_you_mean(typed, verbs));
    return fmt::format("{} Verbs: {}; --help tells more.", about, fmt::join(verbs, ", "));
}

/// Print a message, which may quote untrusted files.
int complain(const std::string& message) {
    fmt::print(stderr, "{}\n", warplab::to_printable(message));
    return 2;
}

/// Make OpenMP's threads spin less: by default they wait by spinning for a millisecond and longer. On a machine with
/// other work, they thereby take each other's cores: a check of the heat lab took six times as long. With a GPU they
/// may spin, because the CPU baseline of a speedup must be its best time. libgomp reads the limit while it is loaded,
/// so the program restarts itself.
void spin_less(char** arguments) {
    if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY")) return;
    if (std::filesystem::exists("/dev/nvidiactl") || std::filesystem::exists("/dev/dxg")) return;
    setenv("GOMP_SPINCOUNT", "10000", 1);
    std::error_code unknown;
    execv(std::filesystem::read_symlink("/proc/self/exe", unknown).c_str(), arguments);
}

int run(const Verb& verb, const Options& options) {
    try {
        if (!std::filesystem::exists(options.root / "labs"))
            return complain("There is no folder labs/ here. Run this from the project's own folder.");
        return verb(options);
    } catch (const warplab::ManifestError& error) {
        return complain(fmt::format("A lab's own files are wrong. {}", error.what()));
    } catch (const warplab::UsageError& error) {
        return complain(error.what());
    } catch (const std::bad_alloc&) {
        return complain("This machine has too little free memory for that.");
    } catch (const std::exception& error) {
        return complain(fmt::format("Our side broke, not yours: {}", error.what()));
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    spin_less(arguments);
    std::signal(SIGPIPE, SIG_IGN);
    CLI::App app{"Warplab: checks and times CUDA labs, on a GPU or without one."};
    app.name("warplab");
    app.set_version_flag("--version", warplab::version());
    app.require_subcommand(1);
    app.footer("Exit status: 0 all passed, 1 something failed, 2 our side broke or the command was wrong.");
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
        return complain(fmt::format("{}. `build/warplab {} --help` tells more.", error.what(),
                                    app.get_subcommands().front()->get_name()));
    } catch (const CLI::ParseError& error) {
        return complain(fmt::format(
            "{}. `build/warplab --help` lists the verbs, `build/warplab VERB --help` their options.", error.what()));
    }
    return run(chosen->run, options);
}
