#pragma once
// Users that exist for one sandboxed program at a time. Needs root.

#include <sys/types.h>

namespace warplab::sandbox {

/// A user id that nobody else on this machine holds, taken until it is destroyed.
class UnusedUser {
  public:
    /// Tries base + slot first, then those after it. Throws std::runtime_error when all are taken or none can be.
    static UnusedUser take(int slot);
    UnusedUser(UnusedUser&& other) noexcept;
    UnusedUser& operator=(UnusedUser&& other) noexcept;
    ~UnusedUser();

    uid_t id() const { return id_; }

    /// Kills every process of this user, wherever it went.
    void kill_all() const;

  private:
    UnusedUser(uid_t id, int lock) : id_(id), lock_(lock) {}
    uid_t id_;
    int lock_;
};

}  // namespace warplab::sandbox
