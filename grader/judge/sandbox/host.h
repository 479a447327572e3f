#pragma once
// The kind of machine that the judge runs on, which determines the commands that messages suggest.

namespace warplab::sandbox {

/// Docker, Podman, Kubernetes or another container.
bool in_container();

/// systemd manages this machine's processes, so `systemd-run` works.
bool has_systemd();

}  // namespace warplab::sandbox
