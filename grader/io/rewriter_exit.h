#pragma once
// The rewriter's exit status, which the judge reads. The rewriter's messages are only for people.

namespace warplab {

enum class RewriterExit {
    done = 0,
    refused = 1,         // messages are on stderr
    internal_error = 2,  // the rewriter failed: a file cannot be read or written, or the arguments are wrong
    lacks_feature = 3    // refused; the first message names a feature that CUDA has and the CPU backend lacks
};

}  // namespace warplab
