#pragma once
// Adds a report from a different machine, such as one with a GPU, to the student's journal. The report is untrusted.

#include <filesystem>
#include <string>

#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

struct ImportSummary {
    int added = 0, foreign = 0;  // stages; foreign: about a file that is not the student's
    std::string text;            // a printable line for each stage
};

/// Throw UsageError if the file cannot be read or is not a report.
Report read_report(const std::filesystem::path& file);

/// Add each stage to the records in `work`. Throws UsageError if the judge cannot have written the report (then nothing
/// is added) or if the records cannot be written.
ImportSummary import_report(const Report& report, const Lab& lab, const std::filesystem::path& file,
                            const std::filesystem::path& work);

}  // namespace warplab
