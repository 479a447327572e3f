#pragma once
// All that is fuzzed, by the names of the folders of corpus/.

#include <vector>

#include "tests/fuzz/answer.h"
#include "tests/fuzz/manifest.h"
#include "tests/fuzz/replay.h"
#include "tests/fuzz/report.h"
#include "tests/fuzz/status_page.h"

namespace warplab::fuzz {

inline const std::vector<Target> targets = {{"answer", try_answer, byte_words},
                                            {"status_page", try_status_page, byte_words},
                                            {"report", try_report, json_words},
                                            {"manifest", try_manifest, json_words}};

}  // namespace warplab::fuzz
