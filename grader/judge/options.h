#pragma once
// The options of `warplab VERB …`. Each option is a field and a line in Options::each(); no other code lists them.

#include <filesystem>
#include <string>
#include <vector>

namespace warplab {

struct Folders {
    std::filesystem::path root = ".";  // the project
    std::filesystem::path build = "build";
    std::filesystem::path work = "work";  // the student's folder
};

/// The command line's description of an option.
struct OptionWords {
    const char* name;
    const char* about;
    const char* verbs = "";   // the verbs that take it, separated by blanks; empty: all
    const char* except = "";  // the verbs that do not take it
    bool required = false, shows_default = false;
    double lowest = 0, highest = 0;  // the range of a number
};

struct Options {
    std::string lab, stage;  // positional
    std::string dataset, backend, tree, upto, metrics, gpu, speed;
    std::filesystem::path source, json, report_dir, report, image;
    std::vector<std::string> settings;
    bool force = false, unsafe = false, unscored = false, no_cuda_only = false, no_check_mode = false, no_nvcc = false,
         precise = false, hint = false;
    double sample_s = 0;  // 0: the benchmark's default
    Folders folders;

    /// Call `bind(field, words)` for each option that is not positional. The program that `make` runs passes the typed
    /// options to several verbs, so verbs also accept options that they do not use.
    template <typename Bind>
    void each(Bind bind) {
        bind(image, {.name = "--image", .about = "the picture to process (default: the lab's own)", .verbs = "show"});
        bind(settings, {.name = "--set",
                        .about = "NAME=VALUE …: the lab's settings; an unknown name lists them",
                        .verbs = "show"});
        bind(gpu, {.name = "--gpu",
                   .about = "use this GPU: H200, A100, T4, RTX3080 … (default for modelled times: the course's)",
                   .verbs = "inspect bench grade"});
        bind(speed, {.name = "--speed",
                     .about = "where speed points come from: measured (default), modelled (provisional, without a GPU) "
                              "or off",
                     .verbs = "grade"});
        bind(upto, {.name = "--upto", .about = "the last stage to grade (default: all)", .verbs = "grade compile"});
        bind(unscored,
             {.name = "--unscored", .about = "also time the datasets that do not count for points", .verbs = "grade"});
        bind(report, {.name = "--report", .about = "a report.json", .verbs = "import", .required = true});
        bind(backend, {.name = "--backend", .about = "cuda or cpu (default: cuda if there is a GPU)"});
        bind(source, {.name = "--source", .about = "judge this file as the stage"});
        bind(tree,
             {.name = "--tree", .about = "work (default), solutions, starter or a folder with the stages' files"});
        bind(folders.work, {.name = "--work", .about = "the student's folder", .shows_default = true});
        bind(folders.build, {.name = "--build", .about = "the folder of programs and caches", .shows_default = true});
        bind(dataset,
             {.name = "--dataset", .about = "this dataset only; shows the code's own output", .except = "show"});
        bind(no_cuda_only, {.name = "--no-cuda-only",
                            .about = "check, bench, grade: skip the datasets that need a GPU, even on a GPU",
                            .except = "show"});
        bind(no_check_mode,
             {.name = "--no-check-mode",
              .about = "check, bench, grade: omit the sanitizer; quicker, and hygiene points are pending",
              .except = "show"});
        bind(no_nvcc, {.name = "--no-nvcc",
                       .about = "grade, inspect: do not compile with nvcc on the CPU backend; quicker",
                       .except = "show"});
        bind(json, {.name = "--json", .about = "also write the report to this file", .except = "show"});
        bind(metrics,
             {.name = "--metrics",
              .about = "profile: only these metrics of Nsight Compute, separated by commas, as CSV of the first "
                       "launches",
              .except = "show"});
        bind(report_dir, {.name = "--report-dir",
                          .about = "grade, inspect: write the report into this folder (default: BUILD/report or "
                                   "BUILD/inspect)",
                          .except = "show"});
        bind(sample_s, {.name = "--sample-seconds",
                        .about = "bench, grade: maximum seconds of a timing sample (default: 0.05; with --precise, 1)",
                        .except = "show",
                        .lowest = 0.05,
                        .highest = 1});
        bind(precise, {.name = "--precise",
                       .about = "bench, grade: time until the ratio to the reference is known to 0.5%, not only until "
                                "the points are known",
                       .except = "show"});
        bind(hint,
             {.name = "--hint", .about = "show the hint instead of a question", .verbs = "check watch bench inspect"});
        bind(force,
             {.name = "--force", .about = "also time on the CPU backend; the times are marked", .except = "show"});
        bind(unsafe, {.name = "--unsafe", .about = "grade without a sandbox if none is available", .except = "show"});
    }
};

}  // namespace warplab
