#pragma once
// Declares only the type Json. Files that create or read values include <nlohmann/json.hpp>, which takes seconds to
// compile.
#include <nlohmann/json_fwd.hpp>

namespace warplab {
/// Keeps keys in the order in which they are written, so that reports are always in the same order.
using Json = nlohmann::ordered_json;
}  // namespace warplab
