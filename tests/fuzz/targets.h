#pragma once
// All C++ fuzz targets, by the names of the folders of corpus/.

#include <vector>

#include "tests/fuzz/answer.h"
#include "tests/fuzz/compiler.h"
#include "tests/fuzz/image.h"
#include "tests/fuzz/manifest.h"
#include "tests/fuzz/object_file.h"
#include "tests/fuzz/replay.h"
#include "tests/fuzz/report.h"
#include "tests/fuzz/source.h"
#include "tests/fuzz/status_page.h"

namespace warplab::fuzz {

inline const std::vector<Target> targets = {
    {"answer", try_answer, byte_words},           {"status_page", try_status_page, byte_words},
    {"compiler", try_compiler, compiler_words},   {"source", try_source, rewriter::test::source_words},
    {"object_file", try_object_file, byte_words}, {"image", try_image, byte_words},
    {"report", try_report, json_words},           {"manifest", try_manifest, json_words},
};

}  // namespace warplab::fuzz
