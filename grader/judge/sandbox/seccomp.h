#pragma once
// The system calls that level `uid` refuses, as a BPF program. Written out because the list is short and level `uid`
// is for machines on which nothing can be installed.

#include <linux/filter.h>

namespace warplab::sandbox {

/// Null on processors for which there is no list (then level `uid` is not offered).
const sock_fprog* seccomp_filter();

}  // namespace warplab::sandbox
