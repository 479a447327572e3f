#pragma once
#include <stdexcept>

namespace warplab {

/// A mistake in what was typed, or in a file that it names.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace warplab
