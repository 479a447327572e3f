#pragma once
// A child and everything it started, where no pid namespace holds them together. Processes whose parent has ended
// become children of the judge: at level `none` they are known by a mark in their environment, at level `uid` by their
// user.

#include <sys/types.h>

#include <string>

namespace warplab::sandbox {

/// Makes orphaned grandchildren children of the judge. Once per process.
void adopt_orphans();

/// NAME=value to start the child with; different for every child.
std::string new_mark();

/// Kills what a child that has ended left behind: the orphans with its mark, and all below them.
void kill_family(const std::string& mark);

/// Waits for the orphans of a user, all of which have been killed: until then they count against the user's limit.
void reap_orphans(uid_t user);

}  // namespace warplab::sandbox
