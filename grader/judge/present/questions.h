#pragma once
// The first level of help: a question about the failure. The second level is the hint, which suggests what to do.

#include <string_view>

#include "grader/model/report.h"

namespace warplab {

/// Return the question that leads to this cause; empty if there is none, as for compile errors.
std::string_view question_about(std::string_view cause);

/// Replace each hint by the question for its cause, if there is one, and add how to get the hint.
StageReport ask_first(StageReport stage);
Finding ask_first(Finding finding);

}  // namespace warplab
