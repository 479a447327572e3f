#pragma once
// Reserves user ids, each for one sandboxed program at a time. Needs root.

#include <sys/types.h>

#include "grader/common/descriptor.h"

namespace warplab::sandbox {

/// A user id that no other sandbox on this machine uses; reserved until this object is destroyed.
class UnusedUser {
  public:
    /// Reserve an id: that with the index `slot` if it is free, otherwise the next free one. Throws std::runtime_error
    /// if no id is free or none can be reserved.
    static UnusedUser take(int slot);

    uid_t id() const { return id_; }

    /// Kill every process of this user.
    void kill_all() const;

  private:
    UnusedUser(uid_t id, Descriptor lock) : id_(id), lock_(std::move(lock)) {}
    uid_t id_;
    Descriptor lock_;
};

}  // namespace warplab::sandbox
