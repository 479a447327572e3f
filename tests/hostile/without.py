"""Run a command without some mechanisms of the machine: `python3 without.py MECHANISM… -- COMMAND`, as root.

The mechanisms are removed only for the command and all processes that it starts: programs are hidden, a seccomp filter
refuses system calls, capabilities are dropped, and limits of namespaces are set to 0 in a user namespace.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import shutil
import signal
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
# The numbers of system calls in <sys/syscall.h> on x86-64. Newer calls have the same numbers on all architectures.
MOUNT, UNSHARE, SETRLIMIT, CLONE, CLONE3, PRCTL, PRLIMIT = 165, 272, 160, 56, 435, 157, 302
LANDLOCK_CREATE, LANDLOCK_RESTRICT = 444, 446
PIVOT_ROOT, DETACH = 155, 2
SET_PDEATHSIG, SET_SECCOMP, SET_NO_NEW_PRIVS = 1, 22, 38
NEW_NAMESPACE = {"mnt": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000,
                 "pid": 0x20000000, "net": 0x40000000}  # fmt: skip
READ_ONLY, BIND, REMOUNT, RECURSIVE, PRIVATE = 1, 4096, 32, 16384, 1 << 18
MAX_USERS = 65536


def check(result: int, action: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{action}: {os.strerror(ctypes.get_errno())}")


# --- system calls


def refuse(number: int, error: int, argument: int | None = None, bits: int = 0, equals: bool = False) -> None:
    """Make a system call fail. With `bits`, it fails only if the low half of an argument has one of these bits or, with
    `equals`, equals them."""
    load, jump_equal, jump_set, answer = 0x20, 0x15, 0x45, 0x06
    allow, fail = 0x7FFF0000, 0x50000 | error
    code = [(load, 0, 0, 0)]
    if argument is None:
        code += [(jump_equal, 0, 1, number), (answer, 0, 0, fail)]
    else:
        test = jump_equal if equals else jump_set
        code += [(jump_equal, 0, 3, number), (load, 0, 0, 16 + 8 * argument), (test, 0, 1, bits), (answer, 0, 0, fail)]
    code += [(answer, 0, 0, allow)]
    text = b"".join(struct.pack("HBBI", *instruction) for instruction in code)
    buffer = ctypes.create_string_buffer(text)
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(buffer))
    check(LIBC.prctl(SET_SECCOMP, 2, program, 0, 0), "seccomp")  # root does not need no_new_privs for this


def refuse_option(option: int, error: int) -> None:
    """Refuse one of prctl's options."""
    refuse(PRCTL, error, argument=0, bits=option, equals=True)


def refuse_namespaces() -> None:
    """Refuse namespaces, like Docker's default filter."""
    flags = sum(NEW_NAMESPACE.values())
    refuse(UNSHARE, errno.EPERM, argument=0, bits=flags)
    refuse(CLONE, errno.EPERM, argument=0, bits=flags)
    refuse(CLONE3, errno.ENOSYS)


def refuse_limits() -> None:
    refuse(SETRLIMIT, errno.EPERM)
    # The argument is the address of a new limit; without it, the call only reads.
    refuse(PRLIMIT, errno.EPERM, argument=2, bits=0xFFFFFFFF)


# --- mounts


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    words = (source.encode(), target.encode(), kind.encode() or None, flags, options.encode() or None)
    check(LIBC.mount(*words), f"mounting {target}")


def enter_mount_namespace() -> None:
    check(LIBC.unshare(NEW_NAMESPACE["mnt"]), "mount namespace")
    mount("none", "/", flags=RECURSIVE | PRIVATE)


def hide_file(path: str) -> None:
    enter_mount_namespace()
    mount("/dev/null", path, flags=BIND)


def hide_folder(path: str) -> None:
    enter_mount_namespace()
    mount("none", path, "tmpfs")


def make_read_only(path: str) -> None:
    enter_mount_namespace()
    mount(path, path, flags=BIND)
    mount("none", path, flags=REMOUNT | BIND | READ_ONLY)


def make_groups_read_only() -> None:
    """Make control groups read-only, like containers. In version 1, every hierarchy is a separate mount."""
    enter_mount_namespace()
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, folder, kind, *_ = line.split()
        if kind in ("cgroup", "cgroup2"):
            mount("none", folder, flags=REMOUNT | BIND | READ_ONLY)


def mount_version_2() -> None:
    """Mount version 2 of control groups, which lacks the controllers that version 1 uses."""
    enter_mount_namespace()
    mount("none", "/sys/fs/cgroup", "cgroup2")


def imitate_systemds_group() -> None:
    """Imitate the files of version 2 in a group that belongs to systemd and cannot be divided."""
    hide_folder("/sys/fs/cgroup")
    for name, text in {"controllers": "cpu memory pids", "procs": "", "subtree_control": ""}.items():
        Path(f"/sys/fs/cgroup/cgroup.{name}").write_text(text + "\n")


def leave_the_container() -> None:
    """Hide the files that mark a container, and the environment of process 1."""
    enter_mount_namespace()
    root = tempfile.mkdtemp()
    mount("none", root, "tmpfs")
    for entry in Path("/").iterdir():
        target = Path(root, entry.name)
        if entry.is_symlink():
            target.symlink_to(entry.readlink())
        elif entry.is_dir():
            target.mkdir()
            mount(str(entry), str(target), flags=BIND | RECURSIVE)
    folder = Path.cwd()
    Path(root, "old").mkdir()
    check(LIBC.syscall(PIVOT_ROOT, root.encode(), f"{root}/old".encode()), "pivot_root")
    os.chdir(folder)
    check(LIBC.umount2(b"/old", DETACH), "unmounting the old root")
    mount("/dev/null", "/proc/1/environ", flags=BIND)
    for mark in ("KUBERNETES_SERVICE_HOST", "container"):
        os.environ.pop(mark, None)


def pretend_systemd() -> None:
    hide_folder("/run/systemd")
    Path("/run/systemd/system").mkdir()


def mask_proc() -> None:
    """Mask parts of /proc, like containers: then no user namespace may mount another /proc."""
    hide_folder("/proc/tty")
    enter_user_namespace(MAX_USERS)
    check(LIBC.unshare(NEW_NAMESPACE["mnt"]), "mount namespace")


def fill_disk() -> None:
    """Leave almost no room where the compilers write."""
    enter_mount_namespace()
    folder = Path(os.environ.get("BUILD") or "build", "cache", "work")
    folder.mkdir(parents=True, exist_ok=True)
    mount("none", str(folder), "tmpfs", options="size=64m")


def set_kernel(name: str, value: str) -> None:
    """Add a file to /proc/sys/kernel that only other kernels have, and a bubblewrap that fails as on these kernels."""
    hide_folder("/proc/sys/kernel")
    Path("/proc/sys/kernel", name).write_text(value + "\n")
    replace_bubblewrap("setting up uid map: Permission denied")


# --- users and namespaces


def enter_user_namespace(count: int) -> None:
    """Enter a user namespace in which root has the first `count` users. The parent process waits for the new
    process and exits with its status."""
    ready, map_written = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        LIBC.prctl(SET_PDEATHSIG, signal.SIGKILL)
        check(LIBC.unshare(NEW_NAMESPACE["user"]), "user namespace")
        os.write(ready[1], b".")
        os.read(map_written[0], 1)
        return
    os.read(ready[0], 1)
    for kind in ("uid", "gid"):
        Path(f"/proc/{child}/{kind}_map").write_text(f"0 0 {count}\n")
    os.write(map_written[1], b".")
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 255)


def forbid_namespaces(kind: str) -> None:
    enter_user_namespace(MAX_USERS)
    Path(f"/proc/sys/user/max_{kind}_namespaces").write_text("0\n")


def drop_capability(name: str) -> None:
    numbers = {"chown": 0, "kill": 5, "setgid": 6, "setuid": 7, "sys_admin": 21, "sys_resource": 24}
    check(LIBC.prctl(24, numbers[name], 0, 0, 0), "bounding set")  # PR_CAPBSET_DROP; lost with the next exec


def become_ordinary() -> None:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)


# --- programs


def hide_program(name: str) -> None:
    """Make a program non-executable, so that a search of PATH does not find it."""
    path = shutil.which(name)
    if path:
        hide_file(os.path.realpath(path))


def replace_bubblewrap(message: str) -> None:
    replace_by_script(f"echo 'bwrap: {message}' >&2\nexit 1\n")


def use_old_bubblewrap() -> None:
    """Refuse the option --size, like versions before 0.7."""
    hide_folder("/mnt")
    original = shutil.copy(os.path.realpath(str(shutil.which("bwrap"))), "/mnt/bwrap")
    refuse_size = "grep -qz -e '^--size$' /proc/self/fd/$2 && { echo 'bwrap: Unknown option --size' >&2; exit 1; }"
    replace_by_script(f'{refuse_size}\nexec {original} "$@"\n')


def replace_by_script(commands: str) -> None:
    """Replace bubblewrap by a script. Call enter_mount_namespace() before."""
    with tempfile.NamedTemporaryFile("w") as program:
        program.write(f"#!/bin/sh\n{commands}")
        program.flush()
        Path(program.name).chmod(0o755)
        mount(program.name, os.path.realpath(str(shutil.which("bwrap"))), flags=BIND)


REMOVALS: dict[str, Callable[[], object]] = {
    "bwrap": lambda: hide_program("bwrap"),
    "size": use_old_bubblewrap,
    "setpriv": lambda: hide_program("setpriv"),
    "prlimit": lambda: hide_program("prlimit"),
    "namespaces": refuse_namespaces,
    **{f"{kind}-namespaces": lambda kind=kind: forbid_namespaces(kind) for kind in NEW_NAMESPACE},
    "mounts": lambda: refuse(MOUNT, errno.EPERM),
    "proc": mask_proc,
    "apparmor": lambda: set_kernel("apparmor_restrict_unprivileged_userns", "1"),
    "unprivileged-namespaces": lambda: set_kernel("unprivileged_userns_clone", "0"),
    "cgroups": lambda: hide_folder("/sys/fs/cgroup"),
    "writable-cgroups": make_groups_read_only,
    "cgroups-version-1": mount_version_2,
    "own-group": imitate_systemds_group,
    "container": leave_the_container,
    "other-inits": pretend_systemd,
    "other-users": lambda: enter_user_namespace(1),
    "run": lambda: make_read_only("/run"),
    "root": become_ordinary,
    **{f"cap-{name}": lambda name=name: drop_capability(name)
       for name in ("chown", "kill", "setgid", "setuid", "sys_admin", "sys_resource")},
    "disk": fill_disk,
    "memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20)),
    "limits": refuse_limits,
    "death-signal": lambda: refuse_option(SET_PDEATHSIG, errno.EINVAL),
    "no-new-privs": lambda: refuse_option(SET_NO_NEW_PRIVS, errno.EINVAL),
    "seccomp": lambda: refuse_option(SET_SECCOMP, errno.EINVAL),
    "landlock": lambda: refuse(LANDLOCK_CREATE, errno.ENOSYS),
    "landlock-at-boot": lambda: refuse(LANDLOCK_CREATE, errno.EOPNOTSUPP),
    "landlock-ruleset": lambda: refuse(LANDLOCK_RESTRICT, errno.EPERM),
}  # fmt: skip


def without(*missing: str) -> list[str]:
    """Return the prefix of a command that removes these mechanisms for it."""
    return [sys.executable, __file__, *missing, "--"] if missing else []


def main() -> None:
    separator = sys.argv.index("--")
    for mechanism in sys.argv[1:separator]:
        REMOVALS[mechanism]()
    command = sys.argv[separator + 1 :]
    os.execv(shutil.which(command[0]) or command[0], command)


if __name__ == "__main__":
    main()
