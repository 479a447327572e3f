#pragma once
// Declares only the name. A file that creates or reads a value includes <nlohmann/json.hpp>, which takes a compiler
// seconds.
#include <nlohmann/json_fwd.hpp>

namespace warplab {
/// Keeps keys in the order in which they are written, so that reports are always in the same order.
using Json = nlohmann::ordered_json;
}  // namespace warplab
