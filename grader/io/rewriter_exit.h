#pragma once
// The protocol between judge and rewriter: the rewriter's exit status. Its messages are for people.

namespace warplab {

enum class RewriterExit {
    done = 0,
    refused = 1,       // messages are on stderr
    our_side = 2,      // a file cannot be read or written, or misuse
    lacks_feature = 3  // refused; the first message names a feature that CUDA has and the CPU backend lacks
};

}  // namespace warplab
