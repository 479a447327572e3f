#pragma once
// The first level of help: a question about the failure. The hint, which says what to do, is the second one.

#include <string_view>

#include "grader/model/report.h"

namespace warplab {

/// Return the question that leads to this cause; empty if there is none, as for compile errors.
std::string_view question_about(std::string_view cause);

/// Replace each hint whose cause has a question by the question, and say how to get the hint.
StageReport ask_first(StageReport stage);
Finding ask_first(Finding finding);

}  // namespace warplab
