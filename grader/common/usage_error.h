#pragma once
#include <stdexcept>

namespace warplab {

/// A mistake in the command line, or in a file that it names.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace warplab
