"""Remove mechanisms that the sandbox uses, one or a few at a time, with without.py. Either the judge works at the same
or a weaker level, or it grades nothing and its message names the missing mechanism.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hostile.test_hostile import ENTRIES, HONEST, assert_outcome, failures, grade, name_of
from tests.hostile.without import without
from tests.labs.conftest import BUILD, ROOT
from tests.share import THOROUGH

LAB, STAGE = "vector_add", "02_grid_stride"
NOBODY = 65534
FIRST_USER = 60706  # the first user id of sandboxes
USER_LEVEL_NEEDS = "--cap-add SETUID --cap-add SETGID"


@dataclass
class Case:
    """A machine without some mechanisms. `expected` is the reported level or, if nothing is graded, parts of the
    message. `remark` has parts of the report's remark on the level."""

    missing: str
    expected: str | tuple[str, ...]
    remark: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.missing.replace(" ", "+") or "nothing"


INSTALL = "install the package bubblewrap"
DEATH_SIGNAL = "setting the signal for the judge's end"
AS_ROOT = [
    Case("", "namespace"),
    # bubblewrap and the mechanisms that it needs
    Case("bwrap", "uid"),
    Case("namespaces", "uid"),
    Case("mounts", "uid"),
    Case("proc", "uid"),
    *(Case(f"{kind}-namespaces", "uid") for kind in ("pid", "net", "ipc", "uts", "mnt", "cgroup")),
    Case("user-namespaces cap-sys_admin", "uid"),
    Case("user-namespaces setpriv", "uid"),
    # one of two ways to start bubblewrap, and mechanisms that it does not need
    Case("user-namespaces", "namespace"),
    Case("cap-sys_admin", "namespace"),
    Case("setpriv", "namespace"),
    Case("size", "namespace"),
    Case("size setpriv", "namespace"),
    Case("cap-kill", "namespace"),
    Case("cap-chown", "namespace"),
    Case("cap-sys_resource", "namespace"),
    Case("cgroups", "namespace"),
    Case("landlock", "namespace"),
    # mechanisms that the level `uid` does not need
    Case("bwrap cap-kill", "uid"),
    Case("bwrap cap-chown", "uid"),
    Case("bwrap cap-sys_resource", "uid"),
    Case("bwrap cgroups", "uid"),
    # mechanisms that both levels need
    Case("seccomp", ("prctl(PR_SET_SECCOMP)", "installing the seccomp filter", "seccomp profile")),
    Case("limits", ("bwrap: setting a limit", "/bin/true: setting a limit", "seccomp profile")),
    Case("death-signal", (f"bwrap: {DEATH_SIGNAL}", f"/bin/true: {DEATH_SIGNAL}", "seccomp profile")),
    Case("no-new-privs", ("PR_SET_NO_NEW_PRIVS", "/bin/true: setting no_new_privs", "seccomp profile")),
    Case("cap-setuid", ("bwrap: changing the user", "/bin/true: changing the user", USER_LEVEL_NEEDS)),
    Case("cap-setgid", ("bwrap: dropping groups", "/bin/true: dropping groups", USER_LEVEL_NEEDS)),
    Case("other-users", ("bwrap: changing the group", USER_LEVEL_NEEDS, "user ids up to 61183")),
    Case("run", ("/run/warplab", "Read-only", "make /run writable")),
    # mechanisms that the level `uid` needs
    Case("bwrap landlock", (INSTALL, "no Landlock", "Linux 5.13")),
    Case("bwrap landlock-at-boot", (INSTALL, "no Landlock", "lsm=")),
    Case("bwrap landlock-ruleset", (INSTALL, "entering the Landlock ruleset", "seccomp profile")),
    Case("bwrap seccomp", (INSTALL, "installing the seccomp filter", "seccomp profile")),
    Case("bwrap no-new-privs", (INSTALL, "setting no_new_privs", "seccomp profile")),
    Case("bwrap limits", (INSTALL, "setting a limit", "seccomp profile")),
    Case("bwrap death-signal", (INSTALL, DEATH_SIGNAL, "seccomp profile")),
    Case("bwrap cap-setuid", (INSTALL, "changing the user", USER_LEVEL_NEEDS)),
    Case("bwrap other-users", (INSTALL, "changing the group", "user ids up to 61183")),
    Case("bwrap run", (INSTALL, "make /run writable")),
    Case("net-namespaces landlock", ("sysctl user.max_net_namespaces", "no Landlock")),
    Case("proc landlock", ("Can't mount proc", "no Landlock")),
]
ROOT_CAN = "Only root can work without it"
AS_ORDINARY_USER = [
    Case("", "namespace"),
    Case("cgroups", "namespace"),
    Case("landlock", "namespace"),
    Case("seccomp", ("prctl(PR_SET_SECCOMP)", ROOT_CAN)),
    Case("run", "namespace"),
    Case("size", "namespace"),
    Case("bwrap", (INSTALL, ROOT_CAN)),
    Case("namespaces", ("No permissions to create", ROOT_CAN)),
    Case("mounts", ("bwrap: Failed to make / slave", ROOT_CAN)),
    Case("proc", ("Can't mount proc", ROOT_CAN)),
    *(
        Case(f"{kind}-namespaces", (f"no {kind} namespaces", f"`sysctl user.max_{kind}_namespaces=15000`", ROOT_CAN))
        for kind in ("user", "pid", "net", "ipc", "uts", "mnt", "cgroup")
    ),
    Case("apparmor", ("AppArmor prevents bubblewrap", "`make setup`", ROOT_CAN)),
    Case("unprivileged-namespaces", ("`sysctl kernel.unprivileged_userns_clone=1`", ROOT_CAN)),
    Case("prlimit", ("execvp /usr/bin/prlimit", ROOT_CAN)),
    Case("limits", ("bwrap: setting a limit", "seccomp profile", ROOT_CAN)),
    Case("death-signal", (f"bwrap: {DEATH_SIGNAL}", "seccomp profile", ROOT_CAN)),
    Case("no-new-privs", ("PR_SET_NO_NEW_PRIVS", ROOT_CAN)),
]
HARMFUL = ("reads_other_students", "reads_the_judges_memory", "reaches_the_network", "becomes_root", "fork_bomb",
         "ignored_signals", "outlives_the_run")  # fmt: skip
WEAKER = [case for case in AS_ROOT if case.missing in ("cap-sys_admin", "bwrap cap-kill")]
WEAKER += [case for case in AS_ROOT if case.missing and isinstance(case.expected, str) and case not in WEAKER]

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can remove a mechanism"),
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="the system calls' numbers are those of x86-64"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed"),
]


# Kinds of hosts. The tests imitate them by changing the control groups and the marks of a container that the judge
# sees; the kernel remains this machine's.
NO_GROUPS = "No control groups: memory and processor time are limited per process"
DOCKER = "start it with --cap-add SYS_ADMIN --security-opt seccomp=unconfined"
SCOPE = "--scope -p Delegate=yes` before the command"
HOSTS_AS_ROOT = [
    Case("container cgroups", "namespace", (NO_GROUPS, "none are mounted", "`mount -t cgroup2")),
    Case("writable-cgroups", "namespace", (NO_GROUPS, "is read-only", "--privileged", "`mount -o remount,rw ")),
    Case("writable-cgroups namespaces", "uid", ("uid instead of namespace: ", "is read-only")),
    Case("own-group other-inits", "namespace", (NO_GROUPS, f"systemd-run {SCOPE}")),
    Case("own-group", "namespace", (NO_GROUPS, "the kernel refuses to create them below /sys/fs/cgroup")),
    Case("container namespaces", "uid", ("bubblewrap is installed but does not start here",)),
    Case("container bwrap cgroups", "uid", ("uid instead of namespace: bubblewrap is not installed", NO_GROUPS)),
    Case("container bwrap landlock", (INSTALL, "no Landlock")),
]
HOSTS_AS_ORDINARY_USER = [
    Case("container cgroups", "namespace", (NO_GROUPS, "none are mounted")),
    Case("writable-cgroups", "namespace", (NO_GROUPS, "is read-only")),
    Case("own-group other-inits", "namespace", (NO_GROUPS, f"systemd-run --user {SCOPE}")),
    Case("own-group", "namespace", (NO_GROUPS, "only root can create them here; grade as root")),
    Case("container namespaces", ("bubblewrap is installed but does not start here", ROOT_CAN)),
]
if not Path("/sys/fs/cgroup/cgroup.controllers").exists():  # otherwise, a second mount works like the first one
    HOSTS_AS_ROOT.append(Case("cgroups-version-1", "namespace", ("the controller memory", "Delegate=yes")))
    HOSTS_AS_ORDINARY_USER.append(Case("container", "namespace", ("only root can create them here; grade as root",)))
if Path("/.dockerenv").exists():
    HOSTS_AS_ROOT += [
        Case("cgroups", "namespace", (NO_GROUPS, "in this container; start it with --privileged")),
        Case("namespaces", "uid", ("this container may not create namespaces", DOCKER)),
    ]
    HOSTS_AS_ORDINARY_USER.append(Case("namespaces", ("this container may not create namespaces", DOCKER, ROOT_CAN)))


def assert_expected(case: Case, folder: Path, course: Path, *more: str) -> None:
    """Grade an empty folder, so that nothing is compiled; the judge tests the sandbox nevertheless."""
    for name in ("tree", "reports"):
        (folder / name).mkdir()
        os.chown(folder / name, NOBODY, NOBODY)
    command = [(ROOT / BUILD).resolve() / "warplab", "grade", LAB, STAGE, "--tree", folder / "tree", "--backend", "cpu"]
    command += ["--build", (ROOT / BUILD).resolve(), "--no-check-mode", "--report-dir", folder / "reports"]
    result = subprocess.run(
        [*map(str, without(*case.missing.split(), *more)), *map(str, command)],
        cwd=course,
        capture_output=True,
        text=True,
        check=False,
    )
    output = result.stdout + result.stderr
    report = folder / "reports" / f"{LAB}.json"
    if isinstance(case.expected, str):
        assert report.exists(), output
        content = json.loads(report.read_text())
        assert content["sandbox"] == case.expected
        assert not [words for words in case.remark if words not in content["sandbox_remark"]], content["sandbox_remark"]
        return
    assert result.returncode == 2 and not report.exists(), output
    assert output.startswith("Grading other people's code needs a sandbox, and none is available here: "), output
    assert not [words for words in case.expected if words not in output], output


@pytest.mark.parametrize("case", AS_ROOT + HOSTS_AS_ROOT, ids=str)
def test_root_gets_the_expected_level_or_message(case: Case, tmp_path: Path) -> None:
    assert_expected(case, tmp_path, ROOT)


def processes_that_name(text: str) -> list[str]:
    """Return the ids of processes whose command line contains the text; zombies have no command line."""
    ids = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if text.encode() in (entry / "cmdline").read_bytes():
                ids.append(entry.name)
    return ids


def test_no_copy_of_the_judge_stays_if_run_is_read_only(tmp_path: Path) -> None:
    """The process that cleans up after a killed judge cannot lock a user id, and must not continue as a judge."""
    with subprocess.Popen(["sleep", "60"], user=FIRST_USER, group=FIRST_USER, extra_groups=[]) as left_behind:
        try:
            assert_expected(next(case for case in AS_ROOT if case.missing == "run"), tmp_path, ROOT)
            end = time.monotonic() + 10
            while processes_that_name(str(tmp_path)) and time.monotonic() < end:
                time.sleep(0.1)
            assert not processes_that_name(str(tmp_path))
        finally:
            left_behind.kill()


@pytest.fixture(scope="module")
def others_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a course that belongs to an ordinary user."""
    root = tmp_path_factory.mktemp("course")
    for folder in (root, *root.parents[:-2]):
        folder.chmod(0o755)
    for part in ("labs", "datasets"):
        shutil.copytree(ROOT / part / LAB, root / part / LAB)
    for path in (root, *root.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    return root


@pytest.mark.parametrize("case", AS_ORDINARY_USER + HOSTS_AS_ORDINARY_USER, ids=str)
def test_an_ordinary_user_gets_the_expected_level_or_message(case: Case, tmp_path: Path, others_course: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    assert_expected(case, tmp_path, others_course, "root")


@pytest.mark.parametrize(("missing", "reason"), [("disk", "make room there"), ("memory", "no memory for the threads")])
def test_a_full_machine_costs_no_points(missing: str, reason: str, tmp_path: Path) -> None:
    source = tmp_path / HONEST.name
    source.write_text(f"{HONEST.read_text()}// {tmp_path}\n")  # not in the cache
    if missing == "memory":
        grade(source, tmp_path, [])  # with less memory, g++ could not start
    report, output = grade(source, tmp_path, [missing])
    stage = report["stages"][0]
    assert (stage["verdict"], stage["score"]) == ("error", None), output
    assert reason in failures(stage)[0]["message"], output


@pytest.mark.parametrize("name", HARMFUL if THOROUGH else HARMFUL[:1])
@pytest.mark.parametrize("case", WEAKER if THOROUGH else WEAKER[:1], ids=str)
def test_hand_ins_get_the_same_outcome_if_a_mechanism_is_missing(case: Case, name: str, tmp_path: Path) -> None:
    (entry,) = [entry for entry in ENTRIES if name_of(entry) == name]
    assert_outcome(entry, tmp_path, case.expected, case.missing.split())
