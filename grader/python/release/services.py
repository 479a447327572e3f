"""Pack the grader and one lab for a course system that grades each submission separately, on machines without a GPU.

python3 -m grader.python.release.services gradescope|autolab LAB [--upto STAGE] [--unsafe]
(make gradescope LAB=… [UPTO=…])

Gradescope gets dist/gradescope-<lab>.zip, with setup.sh and run_autograder at its root. Autolab gets
dist/autolab-<lab>.tar, with the two files that it asks for: autograde-Makefile and autograde.tar. RELEASES.md explains
how to use them. Both archives contain the hidden datasets, the course's secret, from which the inputs of these datasets
are derived, and the starters, which serve as the reference, but no solutions. With --speed modelled (SPEED=modelled),
speed points follow from the solutions' modelled times in labs/<lab>/modelled_times.json; --speed off grades without
speed points.

Without a sandbox, grading stops. With --unsafe (UNSAFE=1), it continues; the hidden datasets, the secret and the
starters are then omitted, because graded code could read them.
"""

from __future__ import annotations

import fcntl
import io
import os
import secrets
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.python.common.console import UserError, make_parser, read_text, run_command, say, write_atomically
from grader.python.common.labs import SPEEDS, choose_labs
from grader.python.common.units import show_points
from grader.python.release.cut import cut_labs
from grader.python.release.kit import omit_stages
from grader.python.release.pack import (
    HIDDEN,
    OF_EACH_LAB,
    REVISION,
    Files,
    commit_time,
    list_tracked,
    mode_of,
    pack_tar,
    revision,
    select,
)

GRADER = ["grader/*", "labs/precompiled.h", "LICENSE"]
NOT_NEEDED = ["grader/python/docs/*", "grader/python/release/*", "grader/cpu/bench/*", "*.md"]
STARTERS = "starter/*"  # the reference that decides whether a failure is the submission's or the judge's
SECRET = Path("datasets/.secret")
TEMPLATES = Path(__file__).with_suffix("")


@dataclass(frozen=True)
class Choice:
    """The instructor's choices for an autograder."""

    upto: str = ""  # the last stage
    unsafe: bool = False
    speed: str = ""  # where speed points come from

    def options(self) -> str:
        """Return the options for `batch.autograde`."""
        return (" --unsafe" if self.unsafe else "") + (f" --speed {self.speed}" if self.speed else "")


def collect_grader(root: Path, lab: str, choice: Choice) -> Files:
    """Return the files that grading a lab up to a stage needs. Raises UserError."""
    unsafe, upto = choice.unsafe, choice.upto
    omitted = NOT_NEEDED + ([HIDDEN, STARTERS] if unsafe else [])
    files = {
        name: (root / name).read_bytes() for name in select(list_tracked(root), GRADER + OF_EACH_LAB, omitted, [lab])
    }
    if f"labs/{lab}/lab.json" not in files:
        raise UserError(f"labs/{lab}/lab.json is not in git, and only what git tracks is packed. Commit the lab.")
    if choice.speed == "modelled" and (times := f"labs/{lab}/modelled_times.json") not in files:
        raise UserError(
            f"SPEED=modelled needs {times}, and only what git tracks is packed. Make it with python3 -m "
            f"grader.python.docs.solution_times {lab}, and commit it."
        )
    omit_stages(cut_labs(root, {lab: upto}), lab, files)
    files[REVISION] = f"{revision(root)}\n".encode()
    if not unsafe:
        files[str(SECRET)] = read_secret(root).encode()
    return files


def read_secret(root: Path) -> str:
    """Return the course's secret. If it is missing, create it as the judge does. Raises UserError."""
    file = root / SECRET
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_text(file)
    except OSError as error:
        raise UserError(f"Cannot write {file}: {error.strerror}.") from None
    with os.fdopen(descriptor, "w") as stream:
        stream.write(f"{secrets.token_hex(32)}\n")
    say(f"Created {file}, the secret of the hidden datasets: keep it, and use the same file wherever you grade.")
    return read_text(file)


def fill_template(name: str, lab: str, choice: Choice) -> bytes:
    """Return a script for the course system."""
    text = read_text(TEMPLATES / name).replace("@lab@", lab)
    return text.replace(" @options@", choice.options()).encode()


def make_gradescope(root: Path, lab: str, choice: Choice) -> bytes:
    """Return a zip file with setup.sh and run_autograder at its root. Raises UserError."""
    files = collect_grader(root, lab, choice)
    for name in ("setup.sh", "run_autograder"):
        files[name] = fill_template(name, lab, choice)
    packed = io.BytesIO()
    date = time.gmtime(commit_time(root))[:6]
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = 3  # Unix, so that the modes below apply
            entry.external_attr = mode_of(name, content) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return packed.getvalue()


def make_autolab(root: Path, lab: str, choice: Choice, build: Path) -> bytes:
    """Return a tar with autograde-Makefile and autograde.tar, which contains the built programs. Raises UserError."""
    files = collect_grader(root, lab, choice)
    files["run_autolab"] = fill_template("run_autolab", lab, choice)
    oracle = f"labs/{lab}/oracle.so"
    portable = build / "portable"
    command = ["make", "-f", "grader/build.mk", f"BUILD={portable}", "MARCH=", f"{portable}/{oracle}"]
    portable.mkdir(parents=True, exist_ok=True)
    with (portable / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another archive may be made at the same time
        result = subprocess.run(
            command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
        )
    if result.returncode != 0:
        raise UserError(f"The oracle could not be built: {result.stderr.strip()[-500:]}")
    for program in ("warplab", "cpu/rewrite"):
        files[f"build/{program}"] = (build / program).read_bytes()
    files[f"build/{oracle}"] = (portable / oracle).read_bytes()
    moment = commit_time(root)
    inner = pack_tar(files, "warplab", moment)
    return pack_tar(
        {"autograde-Makefile": fill_template("autograde-Makefile", lab, choice), "autograde.tar": inner}, "", moment
    )


def describe_points(root: Path, lab: str, choice: Choice) -> str:
    """State the points that can be reached without a GPU. Raises UserError."""
    points = [stage["points"] for stage in cut_labs(root, {lab: choice.upto}).manifest(lab)["stages"]]
    all_points = sum(sum(kinds.values()) for kinds in points)
    without_speed = all_points - sum(kinds["speed"] for kinds in points)
    if choice.speed == "off":
        return f"There are no speed points: set the assignment's points to {show_points(without_speed)}."
    if choice.speed == "modelled":
        return (
            f"Set the assignment's points to {show_points(all_points)}. Speed points are modelled and provisional; "
            "those of a stage stay pending if the model cannot decide, so only "
            f"{show_points(without_speed)} points are certain "
            "to be available. Merge a GPU's report later."
        )
    return (
        f"Without a GPU, {show_points(without_speed)} of {show_points(all_points)} points are available, "
        "because speed stays pending: "
        f"set the assignment's points to {show_points(without_speed)}, or merge a GPU's report later."
    )


def main(arguments: Sequence[str]) -> int:
    """Write the archive. The exit status is 2 if it cannot be packed."""
    parser = make_parser("python3 -m grader.python.release.services", __doc__, root=True)
    parser.add_argument("system", choices=["gradescope", "autolab"])
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("--unsafe", action="store_true", help="grade even without a sandbox; omits the hidden datasets")
    parser.add_argument("--speed", default="", choices=SPEEDS, help="where speed points come from (default: measured)")
    parser.add_argument("--upto", default="", metavar="STAGE", help="the last stage: its number or id")
    parser.add_argument("--output", type=Path, help="the archive (default: dist/<system>-<lab>.zip or .tar)")
    parser.add_argument("--build", type=Path, default=Path("build"), help="where warplab is built (default: build)")
    options = parser.parse_args(arguments)
    root: Path = options.root
    (lab,) = choose_labs(root, [options.lab])
    choice = Choice(options.upto.strip(), options.unsafe, options.speed)
    if options.system == "gradescope":
        packed = make_gradescope(root, lab, choice)
    else:
        packed = make_autolab(root, lab, choice, options.build)
    ending = "zip" if options.system == "gradescope" else "tar"
    output = options.output or root / "dist" / f"{options.system}-{lab}.{ending}"
    output.parent.mkdir(parents=True, exist_ok=True)
    if not options.unsafe:
        os.umask(0o077)  # only its owner can read the archive, because it contains the secret
    write_atomically(output, packed)
    hidden = "without hidden datasets" if options.unsafe else "with the hidden datasets: keep it private"
    say(f"{output}: {len(packed) / 1e6:.1f} MB, {hidden}")
    say(describe_points(root, lab, choice))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
