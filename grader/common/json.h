#pragma once
// Only the name: a file that makes or reads a value includes <nlohmann/json.hpp>, which takes a compiler seconds.
#include <nlohmann/json_fwd.hpp>

namespace warplab {
/// Keeps keys in the order they are written, so that reports read the same every time.
using Json = nlohmann::ordered_json;
}  // namespace warplab
