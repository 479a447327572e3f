#pragma once
#include <nlohmann/json.hpp>

namespace warplab {
/// Keeps keys in the order they are written, so that reports read the same every time.
using Json = nlohmann::ordered_json;
}  // namespace warplab
