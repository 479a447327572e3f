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

    /// Kills them, too, when the judge itself is killed before this is destroyed. Throws std::runtime_error.
    void kill_all_with_the_judge();

  private:
    UnusedUser(uid_t id, int lock) : id_(id), lock_(lock) {}
    uid_t id_;
    int lock_;
    int held_by_the_judge_ = -1;  // of a pipe: when nobody holds it any more, the guard goes to work
    pid_t guard_ = -1;
};

}  // namespace warplab::sandbox
