#pragma once
// The kind of machine that the judge runs on, which determines the commands that messages suggest.

namespace warplab::sandbox {

/// Return whether the judge runs in Docker, Podman, Kubernetes or another container.
bool in_container();

/// Return whether systemd manages this machine's processes, so that `systemd-run` works.
bool has_systemd();

}  // namespace warplab::sandbox
