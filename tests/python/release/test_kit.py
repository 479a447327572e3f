"""The students' kit contains no answers, and works without the rest of the project."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from grader.python.common.labs import find_labs
from grader.python.release.leaks import find_leaks
from grader.python.release.readme import drop_dangling_links
from tests.layout.tree import BUILD, copy_built, uncommitted_labs
from tests.python.support import ROOT, run_module
from tests.share import share_of

NEW_LABS = uncommitted_labs()  # not in git, so no archive contains them yet
LABS = sorted(lab for lab in (file.parent.name for file in ROOT.glob("labs/*/lab.json")) if lab not in NEW_LABS)
needs_build = pytest.mark.skipif(not (BUILD / "warplab").exists(), reason="build/warplab is not built")


def make_kit(archive: Path, *options: str) -> dict[str, bytes]:
    """Pack a kit, and return its files by their paths within the kit's top folder."""
    result = run_module("grader.python.release.kit", "--output", archive, *options)
    assert result.returncode == 0, result.stderr
    return read_kit(archive.read_bytes())


def read_kit(packed: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        members = archive.getmembers()
        assert all(member.isreg() and (member.uid, member.gid, member.uname) == (0, 0, "") for member in members)
        assert len({member.mtime for member in members}) == 1
        assert [member.name for member in members] == sorted(member.name for member in members)
        contents = {member.name: archive.extractfile(member).read() for member in members}  # type: ignore[union-attr]
    (folder,) = {name.partition("/")[0] for name in contents}
    assert re.fullmatch(r"warplab-[\d.]+", folder)
    return {name.partition("/")[2]: content for name, content in contents.items()}


@pytest.fixture(scope="module")
def kit(tmp_path_factory) -> dict[str, bytes]:
    return make_kit(tmp_path_factory.mktemp("kit") / "kit.tar.gz")


def squeeze(text: str) -> str:
    return re.sub(r"\s", "", text)


def find_answers() -> dict[str, str]:
    """Return the long lines that students have to write, with the path of their solution. This uses no function of
    `make kit`."""
    answers = {}
    for solution in ROOT.glob("solutions/*/*.cu"):
        shown_file = solution.with_name("shown.txt")
        known = squeeze(shown_file.read_text()) if shown_file.exists() else ""
        inside = False
        for line in solution.read_text().splitlines():
            if line.strip().startswith("//@"):
                inside = line.strip() == "//@ begin"
            elif inside and len(code := squeeze(line.partition("//")[0])) >= 36 and code not in known:
                answers[code] = str(solution)
    return answers


def test_the_kit_contains_no_answer(kit):
    """Lines of starters are allowed, because one stage's answer can be the beginning of another stage."""
    answers = find_answers()
    assert len(answers) > 200
    texts = {name: squeeze(content.decode(errors="replace")) for name, content in kit.items()}
    starters = "".join(text for name, text in texts.items() if name.startswith("starter/"))
    other_texts = {name: text for name, text in texts.items() if not name.startswith("starter/")}
    assert [
        (name, line) for line in answers if line not in starters for name, text in other_texts.items() if line in text
    ] == []


def test_the_kit_contains_no_instructors_file(kit):
    assert not [
        name for name in kit if re.search(r"hidden|solution|wrong|^tests|course|\.secret|/peers/|cpu/bench", name)
    ]
    assert not [
        name for name in kit if name.startswith(("handouts/results", "handouts/instructor", "work", "build", "dist"))
    ]
    assert {name.split("/")[2] for name in kit if name.startswith("grader/python/")} == {"common", "journal"}
    for file in ROOT.glob("datasets/*/hidden.json"):
        for dataset in json.loads(file.read_text())["datasets"]:
            name = dataset["name"].encode()
            assert not [
                place
                for place, content in kit.items()
                if name in content and re.search(rb"\b" + name + rb"\b", content)
            ]


def test_the_kit_names_no_program_that_deceives_the_sanitizer(kit):
    assert b"## Deceiving the sanitizer" in kit["grader/judge/sandbox/SANDBOX.md"]
    assert not [name for name, content in kit.items() if re.search(rb"\bopen_\w+\.cu", content)]


def test_the_kit_contains_no_seed_of_a_hidden_dataset(kit):
    """A seed is an HMAC with the course's secret as the key. The first grading in a checkout creates the secret."""
    file = ROOT / "datasets/.secret"
    if not file.exists():
        pytest.skip("nothing was graded here yet, so there is no secret")
    secret = file.read_text().strip()
    content = b"\n".join(kit.values())
    assert secret.encode() not in content
    for recipes in ROOT.glob("datasets/*/hidden.json"):
        for dataset in json.loads(recipes.read_text())["datasets"]:
            message = f"{recipes.parent.name}/{dataset['name']}".encode()
            seed = hmac.new(secret.encode(), message, hashlib.sha256).digest()[:8]
            assert str(int.from_bytes(seed, "big")).encode() not in content
            assert seed.hex().encode() not in content


@pytest.mark.parametrize(
    "place", ["README.md", "handouts/vector_add.md", "labs/vector_add/lab.h", "grader/common/image.h"]
)
def test_an_answer_in_any_file_is_found(kit, place):
    line, solution = next(
        (line, solution)
        for solution in sorted(ROOT.glob("solutions/vector_add/*.cu"))
        for line in solution.read_text().splitlines()
        if re.search(r"out\[i\] = ", line)
        and squeeze(line) not in squeeze(kit[f"starter/vector_add/{solution.name}"].decode())
    )
    planted = kit[place] + b"\n// " + line.replace(" = ", "=\n").encode() + b"\n"  # with another layout
    (leak,) = list(find_leaks(ROOT, kit | {place: planted}))
    assert place in leak and str(solution.relative_to(ROOT)) in leak


def test_a_hidden_datasets_name_and_the_secret_are_leaks(kit, tmp_path):
    for folder in ("solutions", "datasets/sample"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "datasets/sample/hidden.json").write_text('{"datasets": [{"name": "planted_name"}]}')
    (tmp_path / "datasets/.secret").write_text("ab" * 32 + "\n")
    planted = {"a.md": b"as in planted_name.", "b.bin": b"\0" + b"ab" * 32 + b"\0", "c.md": b"planted_name_too"}
    leaks = list(find_leaks(tmp_path, planted))
    assert leaks == ["a.md has the name of a hidden dataset of sample.", "b.bin has the course's secret."]


def test_a_leak_is_refused_and_nothing_is_written(tmp_path):
    folder = tmp_path / "project"
    clone(folder)
    solution = next(file for file in sorted((folder / "solutions/vector_add").glob("*.cu")))
    line = next(line for line in solution.read_text().splitlines() if "out[i] = " in line)
    (folder / "handouts/vector_add.md").write_text(f"# Vectors\n\nWrite:\n\n    {line}\n")
    result = run_module("grader.python.release.kit", "--root", folder)
    assert result.returncode == 2
    assert "handouts/vector_add.md has a line of solutions/vector_add/01_" in result.stderr
    assert not (folder / "dist").exists()


def clone(folder: Path) -> None:
    """Copy the files of this project that git tracks to a new checkout, and commit everything there."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-q", "-m", "Add all files"]):
        subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True)


def test_untracked_files_are_not_packed(tmp_path):
    folder = tmp_path / "project"
    clone(folder)
    (folder / "labs/vector_add/planted.h").write_text("// how to solve it\n")
    (folder / "datasets/.secret").write_text("cd" * 32)
    assert run_module("grader.python.release.kit", "--root", folder).returncode == 0
    (archive,) = (folder / "dist").glob("warplab-*.tar.gz")
    assert not [name for name in read_kit(archive.read_bytes()) if "planted" in name or "secret" in name]
    shutil.copytree(folder / "labs/vector_add", folder / "labs/untracked")
    result = run_module("grader.python.release.kit", "--root", folder, "--labs", "untracked")
    assert result.returncode == 2
    assert "labs/untracked/lab.json is not in git" in result.stderr


def test_kits_are_numbered_and_name_their_stages(tmp_path):
    first = ("--labs", "vector_add:1")
    kits = [make_kit(tmp_path / "kit.tar.gz", *options) for options in (first, ("--labs", "vector_add:2"), first)]
    output = [json.loads(kit["grader/kit.json"]) for kit in kits]
    assert [kit["number"] for kit in output] == [1, 2, 1]
    assert output[1]["labs"] == {"vector_add": ["01_one_thread_per_element", "02_grid_stride"]}
    assert len(json.loads((tmp_path / "kits.json").read_text())) == 2


def test_the_same_commit_gives_the_same_bytes(tmp_path):
    archives = [tmp_path / "one.tar.gz", tmp_path / "other.tar.gz"]
    for archive in archives:
        make_kit(archive)
    assert archives[0].read_bytes() == archives[1].read_bytes()


def find_broken_links(kit: dict[str, bytes]) -> list[tuple[str, str]]:
    broken = []
    for name, content in kit.items():
        for target in re.findall(r"\]\(([^()\s]+)\)", content.decode()) if name.endswith(".md") else []:
            file, _, anchor = target.partition("#")
            path = os.path.normpath(Path(name).parent / file) if file else name
            if "://" not in target and (
                path not in kit or (anchor and anchor not in spell_as_anchors(kit[path].decode()))
            ):
                broken.append((name, target))
    return broken


def spell_as_anchors(text: str) -> str:
    return squeeze(text.lower().replace(" ", "-"))


ALL = 99  # more than the number of any stage


KITS: list[tuple[list[str], dict[str, int]]] = [
    ([], dict.fromkeys(LABS, ALL)),
    (["--upto", "1"], dict.fromkeys(LABS, 1)),
    (["--upto", "2"], dict.fromkeys(LABS, 2)),
    (["--upto", "5"], dict.fromkeys(LABS, 5)),
    (["--labs", "vector_add,dot_product:2"], {"vector_add": ALL, "dot_product": 2}),
    (["--labs", "vector_add:03_vector_loads,large_histogram:1"], {"vector_add": 3, "large_histogram": 1}),
    (
        ["--labs", "dot_product:dyadic_sequential,smoothing_filter,image_histogram:01", "--upto", "02"],
        {"dot_product": 3, "smoothing_filter": 2, "image_histogram": 1},
    ),
    (
        ["--labs", "heat_dissipation, vector_add:3", "--upto", "03_shared_maxdiff"],
        {"heat_dissipation": 3, "vector_add": 3},
    ),
]


@pytest.mark.parametrize(("options", "last_stages"), share_of(KITS, lambda _: "", str, 3), ids=str)
def test_a_kit_up_to_a_stage_contains_nothing_of_later_stages(tmp_path, options, last_stages):
    kit = make_kit(tmp_path / "kit.tar.gz", *options)
    assert find_broken_links(kit) == []
    assert {Path(name).parent.name for name in kit if name.endswith("/lab.json")} == set(last_stages)
    for lab, last in last_stages.items():
        complete = json.loads((ROOT / "labs" / lab / "lab.json").read_text())
        manifest = json.loads(kit[f"labs/{lab}/lab.json"])
        released = [stage["id"] for stage in complete["stages"] if int(stage["id"][:2]) <= last]
        assert [stage["id"] for stage in manifest["stages"]] == released
        assert manifest["points"] == sum(sum(stage["points"].values()) for stage in manifest["stages"])
        assert sorted(Path(name).stem for name in kit if name.startswith(f"starter/{lab}/")) == released
        handout, recipes = (kit[name].decode() for name in (f"handouts/{lab}.md", f"datasets/{lab}/public.json"))
        for stage in complete["stages"]:
            occurs = [f"\n## {stage['id']}\n" in handout, f"| `{stage['id']}` |" in handout]
            assert occurs == [stage["id"] in released] * 2, stage["id"]
            assert stage["id"] in released or stage["id"] not in recipes
    ids = [file.stem for file in ROOT.glob("solutions/*/*.cu")]
    missing = [stage for stage in ids if not any(name.endswith(f"/{stage}.cu") for name in kit)]
    texts = {name: content.decode() for name, content in kit.items() if name.endswith((".h", ".cu", ".json", ".md"))}
    assert [(stage, name) for stage in missing for name, text in texts.items() if stage in text] == []
    assert list(find_leaks(ROOT, kit)) == []
    assert find_later_answers(kit, last_stages) == []


def find_later_answers(kit: dict[str, bytes], last_stages: dict[str, int]) -> list[tuple[str, str]]:
    """Return each line in the kit that solves a stage which the kit lacks, except for lines of its starters, with the
    name of the file."""
    texts = {name: squeeze(content.decode(errors="replace")) for name, content in kit.items()}
    starters = "".join(text for name, text in texts.items() if name.startswith("starter/"))
    later = {
        line: solution
        for line, solution in find_answers().items()
        if int(Path(solution).name[:2]) > last_stages.get(Path(solution).parent.name, 0) and line not in starters
    }
    return [(name, line) for line in later for name, text in texts.items() if line in text]


@needs_build
@pytest.mark.parametrize("options", [["--upto", "1"], ["--labs", f"{LABS[-1]},{LABS[1]}", "--upto", "02"]], ids=str)
def test_the_judge_accepts_the_shortened_labs(tmp_path, options):
    kit = make_kit(tmp_path / "kit.tar.gz", *options)
    folder = unpack(tmp_path)
    output = ""
    for lab in find_labs(folder):
        command = [str(BUILD / "warplab"), "list", lab, "--build", str(BUILD)]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (0, "")
        output += result.stdout
    assert len(re.findall(r"^  \d\d_", output, re.MULTILINE)) == len([name for name in kit if "starter/" in name])
    assert len(re.findall(r"^\w+ +\[", output, re.MULTILINE)) == len([name for name in kit if "lab.json" in name])


@pytest.mark.parametrize("lab", share_of([*LABS, *NEW_LABS], lambda _: "", str, 3))
def test_a_labs_first_stage_can_be_released_alone(tmp_path, lab):
    """The kit lacks the other labs, so lines of their starters are not allowed in it. Packing succeeds nevertheless."""
    if lab in NEW_LABS:
        pytest.skip(f"labs/{lab} is not in git yet, and a kit packs only what git tracks")
    kit = make_kit(tmp_path / "kit.tar.gz", "--labs", lab, "--upto", "1")
    assert len([name for name in kit if name.startswith("starter/")]) == 1


def unpack(folder: Path) -> Path:
    with tarfile.open(folder / "kit.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.glob("warplab-*")
    return unpacked


def test_omitted_labs_are_not_mentioned(tmp_path):
    lab = "heat_dissipation"  # its handout links to another lab's handout
    kit = make_kit(tmp_path / "kit.tar.gz", "--labs", lab)
    assert find_broken_links(kit) == []
    omitted = [other for other in LABS if other != lab]
    assert not [name for name in kit if any(other in name for other in omitted)]
    assert not [other for other in omitted if other in kit["README.md"].decode()]
    readme = kit["README.md"].decode()
    assert f"make check LAB={lab} STAGE=01" in readme and "example-journal" not in readme
    commands = re.search(r"(?:^    make.*# .*\n){3,}", readme, re.MULTILINE)
    assert commands and len({line.index(" # ") for line in commands[0].splitlines()}) == 1


def test_the_kits_readme_does_not_mention_missing_features(tmp_path):
    kit = make_kit(tmp_path / "kit.tar.gz", "--labs", "vector_add,dot_product:2")
    assert [name for name in kit if "pictures/dot" in name] == [
        "handouts/pictures/dot_product_neighbours.svg",
        "handouts/pictures/dot_product_serial.svg",
    ]
    readme = " ".join(kit["README.md"].decode().split())
    assert "make show" not in readme and "build/show" not in readme and "IMAGE" not in readme
    assert "limits `make inspect` uses. `make device`" in readme and "last tables" in readme
    output = run_in(tmp_path, "./warplab", "help", "BUILD=nowhere").stdout
    assert "make inspect LAB=" in output and "make show" not in output
    kit = make_kit(tmp_path / "kit.tar.gz", "--labs", "heat_dissipation:2")
    readme = kit["README.md"].decode()
    assert "make show" in readme and "last tables" not in readme
    assert "Python 3.11. The `cuda`" in readme
    assert "make show LAB=" in run_in(tmp_path, "./warplab", "help", "BUILD=nowhere").stdout


def run_in(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Unpack the kit of a folder again, and return the result of a command in it."""
    for old in folder.glob("warplab-*"):
        shutil.rmtree(old)
    environment = {"PATH": os.environ["PATH"]} | variables
    return subprocess.run(command, cwd=unpack(folder), env=environment, capture_output=True, text=True, check=False)


def test_a_kit_has_the_exercises_that_were_released(tmp_path):
    kit = make_kit(tmp_path / "kit.tar.gz", "--labs", "dot_product:3,vector_add", "--exercises", "dot_product:2")
    exercises = sorted(name for name in kit if name.startswith("exercises/"))
    exercise_list = json.loads(kit["exercises/dot_product/exercises.json"])
    assert exercises == sorted(
        [
            *(f"exercises/dot_product/{exercise['name']}.cu" for exercise in exercise_list),
            "exercises/dot_product/exercises.json",
        ]
    )
    assert {exercise["stage"][:2] for exercise in exercise_list} == {"01", "02"}
    assert all(set(exercise) == {"name", "stage", "difficulty"} for exercise in exercise_list)
    assert json.loads((tmp_path / "kits.json").read_text())[0]["exercises"] == {
        "dot_product": ["01_serial_block_sum", "02_dyadic_interleaved"]
    }
    assert find_broken_links(kit) == []
    assert "make bugs" in kit["README.md"].decode() and "handouts/find_the_bug.md" in kit
    assert "make bugs" in run_in(tmp_path, "./warplab", "help", "BUILD=nowhere").stdout
    result = run_in(tmp_path, "./warplab", "bugs").stdout
    assert result.startswith("dot_product: 0 of 3 exercises found\n  01a  01_serial_block_sum    *\n")
    result = run_in(tmp_path, "./warplab", "bugs", "vector_add")
    assert result.returncode == 2 and "There are no exercises for vector_add." in result.stderr


def test_the_handout_on_modelled_time_names_only_stages_of_the_kit(tmp_path):
    kit = make_kit(tmp_path / "kit.tar.gz", "--labs", "large_histogram:3,vector_add")
    name = re.compile(r"`(\w+/\d\d_\w+)`")
    whole = set(name.findall((ROOT / "handouts/modelled_time.md").read_text()))
    released = {stage for stage in whole if re.match(r"large_histogram/0[123]_|vector_add/", stage)}
    assert released and whole != released
    assert set(name.findall(kit["handouts/modelled_time.md"].decode())) == released
    assert "(handouts/modelled_time.md)" in kit["README.md"].decode()
    assert any(name.startswith("handouts/pictures/modelled_times_") for name in kit)


def test_a_kit_has_no_exercise_unless_it_was_released(kit, tmp_path):
    assert not [name for name in kit if "exercises" in name.split("/")[0] or name.endswith("exercises.json")]
    assert "handouts/find_the_bug.md" not in kit and "make bug" not in kit["README.md"].decode()
    make_kit(tmp_path / "kit.tar.gz", "--labs", "vector_add:1")
    assert "make bug" not in run_in(tmp_path, "./warplab", "help", "BUILD=nowhere").stdout


def test_all_exercises_can_be_packed(tmp_path):
    """`make kit` refuses an exercise that shows a line of a later stage's solution, and no exercise does."""
    make_kit(tmp_path / "kit.tar.gz", "--exercises", ",".join(LABS))
    kit = read_kit((tmp_path / "kit.tar.gz").read_bytes())
    for lab in LABS:
        list_file = ROOT / "labs" / lab / "exercises.json"
        exercise_list = json.loads(list_file.read_text()) if list_file.exists() else []
        assert {f"exercises/{lab}/{exercise['name']}.cu" for exercise in exercise_list} <= set(kit)


def test_an_exercise_with_a_line_of_a_later_solution_is_a_leak(kit):
    line = "value += __shfl_down_sync(all_lanes, value, distance);"
    assert line in (ROOT / "solutions/dot_product/05_warp_shuffle.cu").read_text()
    planted = {f"exercises/dot_product/{name}.cu": line.encode() for name in ("04a", "05a")}
    planted["exercises/heat_dissipation/05a.cu"] = line.encode()
    leaks = "\n".join(find_leaks(ROOT, kit | planted))
    assert "exercises/dot_product/04a.cu has a line of solutions/dot_product/05_" in leaks
    assert "exercises/heat_dissipation/05a.cu has a line of" in leaks
    assert "exercises/dot_product/05a.cu" not in leaks


def test_dangling_links_become_text():
    documents = {
        "a.md": b"[b](b.md#here), [c](c.md), [the\ntable](#no), [d](https://d), ![e](e.svg)",
        "b.md": b"## Here",
    }
    assert drop_dangling_links("a.md", documents) == "[b](b.md#here), c, the\ntable, [d](https://d), ![e](e.svg)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--labs", "no_such_lab"], "No lab is called 'no_such_lab'"),
        (["--upto", "99"], "UPTO=99: no lab has such a stage"),
        (["--exercises", "no_such_lab"], "No lab is called 'no_such_lab'"),
        (["--exercises", "vector_add:1,vector_add"], "EXERCISES=vector_add:1,vector_add names vector_add twice"),
        (
            ["--labs", "vector_add:1", "--exercises", "vector_add:2"],
            "EXERCISES=vector_add:2: the kit has vector_add:1.",
        ),
        (["--labs", "vector_add", "--exercises", "dot_product"], "the kit has no stage of dot_product."),
        (["--upto", "x"], "\n  dot_product: 01_serial_block_sum, 02_dyadic_interleaved, "),
        (["--upto", "02_grid_stride"], "LABS=vector_add:02_grid_stride,…"),
        (["--upto", "two", "--labs", "vector_add"], "UPTO=two: no lab has such a stage"),
        (["--upto", "2", "--labs", "vector_add:2"], "every lab has its own last stage"),
        (["--labs", "vector_add:9,dot_product"], "vector_add has no stage 9. Its stages: 01_one_thread_per_element"),
        (["--labs", "dot_product,vector_add:"], "a colon with no stage after it"),
        (["--labs", "vector_add:1,vector_add:2"], "names vector_add twice"),
    ],
)
def test_wrong_options_give_a_message(tmp_path, options, message):
    result = run_module("grader.python.release.kit", "--output", tmp_path / "kit.tar.gz", *options)
    assert result.returncode == 2
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


@needs_build
def test_a_kit_works_by_itself(tmp_path):
    """The test uses the programs that are already built: only their revision differs, and building takes minutes."""
    lab = "vector_add"
    make_kit(tmp_path / "kit.tar.gz")
    folder = unpack(tmp_path)
    for file in folder.rglob("*"):
        os.utime(file, (0, 0))
    copy_built(folder / "build")

    def make(*words: str) -> tuple[int, str]:
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        result = subprocess.run(
            ["make", *words, "BACKEND=cpu"], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in result.stderr
        return result.returncode, result.stdout + result.stderr

    status, output = make("start", f"LAB={lab}")
    assert status == 0, output
    status, output = make("check", f"LAB={lab}", "STAGE=1")
    assert status != 0 and "01_one_thread_per_element: failed" in output
    status, output = make("submit", f"LAB={lab}", "AUTHORS=Ada Lovelace <al1>")
    assert status != 0 and "still the starter" in output
    for solution in (ROOT / "solutions" / lab).glob("*.cu"):
        shutil.copy(solution, folder / "work" / lab)
    status, output = make("check", f"LAB={lab}", "STAGE=1")
    assert status == 0, output
    from_work_folder = subprocess.run(
        ["../../warplab", "check", "1", "BACKEND=cpu"], cwd=folder / "work" / lab, capture_output=True, check=False
    )
    assert from_work_folder.returncode == 0, from_work_folder.stdout
    assert re.search(r"Points: 8 of 10 \(correctness 6 of 6, hygiene 2 of 2, speed pending\)", output), output
    status, output = make("grade", f"LAB={lab}")
    assert status == 0, output
    assert "hidden" not in output and not (folder / "datasets/.secret").exists()
    assert json.loads((folder / "build/report" / f"{lab}.json").read_text())["total"]["pending"] > 0
    status, output = make("inspect", f"LAB={lab}", "STAGE=1")
    assert status == 0, output
    status, output = make("bench", f"LAB={lab}", "STAGE=1", "GPU=T4")
    ratio = r"The reference solution's modelled time is \d+ ms: yours is [01]\.\d+ times as long"
    assert status == 0 and re.search(ratio, " ".join(output.split())), output
    status, output = make("note", f"LAB={lab}", "STAGE=01")
    assert status == 0 and "Your note: " in output, output
    status, output = make("journal", f"LAB={lab}", "AUTHORS=Ada Lovelace <al1>")
    assert status == 0, output
    status, output = make("submit", f"LAB={lab}", "AUTHORS=Ada Lovelace <al1>")
    assert status == 0 and "Hand in this file" in output
    status, output = make("demo")
    assert status != 0 and "There is no verb demo in this students' kit." in output
    total = json.loads((folder / "build/report" / f"{lab}.json").read_text())["total"]
    grade_hand_in(folder, lab, total["points"], tmp_path)


def grade_hand_in(kit: Path, lab: str, points: float, folder: Path) -> None:
    """Grade the hand-in with the instructor's batch, sanitizer included, and export the course system's gradebook."""
    handed_in, out = folder / "handed in", folder / "batch"
    handed_in.mkdir()
    (archive,) = kit.rglob(f"{lab}-al1-*.tar.gz")
    shutil.copy(archive, handed_in)

    def course(*words: str | Path) -> str:
        command = [sys.executable, "-m", "grader.python.batch", *map(str, words)]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if "needs a sandbox" in result.stderr:
            pytest.skip("no sandbox is available")
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    course("grade", handed_in, "--lab", lab, "--out", out, "--backend", "cpu", "--build", BUILD, "--no-nvcc")
    book = (out / "gradebook.csv").read_text("utf-8-sig")
    assert f"al1,,graded,{points:g}," in book, book  # the name is empty, because there is no roster
    assert "One thread per element" in (out / "feedback/al1/journal.html").read_text()
    assert "correctness 6 of 6, hygiene 2 of 2, speed pending" in (out / "feedback/al1/feedback.txt").read_text()
    exported = folder / "canvas.csv"
    exported.write_text("Student,ID,SIS User ID,SIS Login ID,Section,Lab (77)\nLovelace,1,,al1,A,\n")
    filled = course("export", out, "--format", "canvas", "--title", "Lab (77)", "--gradebook", exported)
    assert f"Lovelace,1,,al1,A,{points:g}" in filled, filled


def test_handouts_of_a_kit_become_pages(tmp_path):
    pytest.importorskip("material", reason="the packages of grader/requirements.txt are not installed")
    kit = make_kit(tmp_path / "kit.tar.gz", "--labs", "vector_add", "--handouts-with", sys.executable)
    pages = {name.removeprefix("handouts/html/") for name in kit if name.startswith("handouts/html/")}
    assert {"index.html", "vector_add.html", "labs/vector_add/lab.h.html", "search/search_index.js"} <= pages
    assert "dot_product.html" not in pages
