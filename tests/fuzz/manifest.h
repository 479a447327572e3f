#pragma once
// Fuzzes the reader of lab.json, public.json and hidden.json. An input contains these three, or the first two,
// separated by lines of ===.

#include <string>

#include "grader/model/manifest.h"
#include "tests/fuzz/bytes.h"

namespace warplab::fuzz {

inline LabTexts split_texts(std::string_view bytes) {
    LabTexts texts{take_part(bytes), take_part(bytes), std::nullopt};
    if (!bytes.empty()) texts.hidden = take_part(bytes);
    return texts;
}

inline void require_sound(const Lab& lab) {
    require(!lab.stages.empty() && !lab.datasets.empty(), "a lab has stages and datasets");
    require(lab.sizes.size() <= 16 && lab.reals.size() <= 256 && lab.buffers.size() <= 16,
            "a request can carry the lab's sizes, reals and buffers");
    require(lab.benchmark.iterations >= 1 && lab.benchmark.iterations_per_call >= 1, "a benchmark has iterations");
    for (const Stage& stage : lab.stages) require(&lab.stage(stage.id) == &stage, "a stage is found by its id");
    for (const Dataset& dataset : lab.datasets) {
        require(&lab.dataset(dataset.name) == &dataset, "a dataset is found by its name");
        for (const std::string& stage : dataset.stages) lab.stage(stage);
    }
}

inline void try_manifest(std::string_view bytes) {
    try {
        require_sound(parse_lab("lab", split_texts(bytes)));
    } catch (const ManifestError& refusal) {
        require(std::string_view(refusal.what()).find(".json") != std::string_view::npos, "a refusal names the file");
        require(!refusal.file.empty(), "a refusal contains the file's name");
    }
}

}  // namespace warplab::fuzz
