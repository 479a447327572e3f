"""Every solution passes, every starter fails, and every wrong submission fails for its stated cause, on the CPU backend
or, with BACKEND=cuda, on a GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.labs import wrong
from tests.labs.conftest import BACKEND, EVERY_STAGE, ROOT, check, labs, stages
from tests.layout.tree import uncommitted_labs
from tests.share import share_of


def wrong_submissions() -> list:
    """Return one parameter for each entry of each lab's wrong.json."""
    entries = []
    for lab in labs():
        for entry in wrong.entries(lab):
            entries.append(pytest.param(lab, entry, id=f"{lab}/{Path(entry['file']).stem}"))
    return entries


@pytest.mark.parametrize(("lab", "stage"), EVERY_STAGE, ids=lambda value: value)
def test_solution_passes(lab: str, stage: str, tmp_path: Path) -> None:
    result = check(lab, stage, ROOT / "solutions" / lab / f"{stage}.cu", tmp_path, "--no-check-mode")
    assert result.status == 0, result.output
    assert any(not check["skipped"] for check in result.stage["checks"])


@pytest.mark.parametrize("lab", labs())
def test_first_solution_earns_the_hygiene_points(lab: str, tmp_path: Path) -> None:
    """tests/labs/test_inspect.py tests that the sanitizer finds nothing in all solutions."""
    result = check(lab, "01", ROOT / "solutions" / lab / f"{stages(lab)[0]}.cu", tmp_path)
    assert result.stage["check_mode"]["datasets"] > 0
    score = result.stage["score"]
    assert score["hygiene"] == score["hygiene_max"]
    assert result.status == 0, result.output


@pytest.mark.parametrize(
    ("lab", "stage"), share_of(EVERY_STAGE, lambda row: row[0], "/".join, 4), ids=lambda value: value
)
def test_starter_compiles_and_fails(lab: str, stage: str, tmp_path: Path) -> None:
    result = check(lab, stage, ROOT / "starter" / lab / f"{stage}.cu", tmp_path, "--no-cuda-only", "--no-check-mode")
    assert result.status == 1, result.output
    assert result.stage["compilation"]["verdict"] == "passed", result.output
    assert result.stage["compilation"]["log"] == ""


@pytest.mark.parametrize("lab", labs())
def test_datasets_that_need_a_gpu_can_be_omitted(lab: str, tmp_path: Path) -> None:
    recipes = json.loads((ROOT / "datasets" / lab / "public.json").read_text())["datasets"]
    cuda_only = {recipe["name"] for recipe in recipes if "cuda-only" in recipe["uses"]}
    stage = stages(lab)[0]
    source = ROOT / "starter" / lab / f"{stage}.cu"
    result = check(lab, stage, source, tmp_path, "--no-cuda-only", "--no-check-mode")
    left_out = {check["dataset"] for check in result.stage["checks"] if "--no-cuda-only" in check["skipped_why"]}
    assert left_out <= cuda_only
    assert not [check for check in result.stage["checks"] if check["dataset"] in cuda_only - left_out]


def sample_wrong_submissions() -> list:
    """Return a share of the wrong submissions of each lab."""
    return share_of(wrong_submissions(), lambda row: row.values[0], lambda row: row.id, 16)


@pytest.mark.parametrize(("lab", "entry"), sample_wrong_submissions())
def test_wrong_submission_is_caught(lab: str, entry: dict, tmp_path: Path) -> None:
    if BACKEND not in entry["backends"]:
        pytest.skip(f"fails only on {', '.join(entry['backends'])}")
    # Without --no-cuda-only, the CPU backend would need 15 s for each dataset that is meant for GPUs.
    options = ["--dataset", entry["dataset"]] if "dataset" in entry else ["--no-cuda-only"]
    source = wrong.source_of(lab, entry["file"], tmp_path)
    result = check(lab, entry["stage"], source, tmp_path, "--no-check-mode", *options)
    first = result.failures()[0] if result.failures() else None
    assert first, f"passed, but should have failed with {entry['cause']}"
    assert result.stage["verdict"] == entry["verdict"], result.output
    causes = entry["cause"] if isinstance(entry["cause"], list) else [entry["cause"]]
    assert first["cause"] in causes, result.output
    assert entry["message_contains"] in first["message"] + " " + first["hint"], result.output


def right_on_the_cpu() -> list:
    """Return submissions whose outputs are wrong only on a GPU, and in which the CPU backend's sanitizer finds the
    mistake."""
    return [entry for entry in wrong_submissions() if entry.values[1].get("right_on_cpu")]


@pytest.mark.skipif(BACKEND != "cpu", reason="on a GPU the outputs are wrong")
@pytest.mark.parametrize(("lab", "entry"), right_on_the_cpu())
def test_right_outputs_with_a_finding_cost_the_hygiene_points(lab: str, entry: dict, tmp_path: Path) -> None:
    result = check(lab, entry["stage"], wrong.source_of(lab, entry["file"], tmp_path), tmp_path)
    assert result.status == 1, result.output
    assert result.stage["verdict"] == "failed"
    assert result.failures() == []
    cause, line = entry["inspect"]
    findings = [finding for finding in result.stage["check_mode"]["findings"] if not finding["note"]]
    assert [cause, line] in [[finding["cause"], finding["line"]] for finding in findings]
    assert f"line {line}: " in result.output
    assert f"Cause: {cause}" in result.output
    score = result.stage["score"]
    assert score["correctness"] == score["correctness_max"]
    assert (score["hygiene"], score["hygiene_pending"]) == (0, False)
    assert score["speed_pending"]


@pytest.mark.skipif(BACKEND != "cpu", reason="the sanitizer is tested on the CPU backend")
def test_wrong_outputs_are_reported_with_the_line_of_the_finding(tmp_path: Path) -> None:
    source = ROOT / "tests/labs/dot_product/02_missing_barrier_in_tree.cu"
    result = check("dot_product", "02", source, tmp_path)
    assert result.failures()[0]["cause"] == "missing_barrier"
    assert "Sanitizer, line 10: Race on element 2" in result.output
    finding = result.stage["check_mode"]["findings"][0]
    assert (finding["cause"], finding["kernel"], finding["line"]) == ("race", "dot", 10)
    assert finding["text"] == source.read_text().splitlines()[9].strip()
    assert result.stage["check_mode"]["datasets"] == 1  # the first dataset with a reason is enough


@pytest.mark.skipif(BACKEND != "cpu", reason="the sanitizer is tested on the CPU backend")
def test_an_index_out_of_bounds_is_a_likelier_reason_than_a_race_between_blocks(tmp_path: Path) -> None:
    """The sanitizer finds both, first the race, because cells to the right of a row belong to the next row."""
    source = wrong.source_of("heat_dissipation", "01_columns_not_guarded.cu", tmp_path)
    result = check("heat_dissipation", "01", source, tmp_path)
    findings = result.stage["check_mode"]["findings"]
    assert findings[0]["cause"] == "out_of_bounds"
    assert "race" in [finding["cause"] for finding in findings]
    failure = result.failures()[0]
    assert failure["cause"] == "out_of_bounds"
    assert failure["message"] == f"Line {findings[0]['line']}: {findings[0]['message']}"
    assert failure["hint"] == findings[0]["hint"]


@pytest.mark.skipif(BACKEND != "cpu", reason="the sanitizer is tested on the CPU backend")
def test_an_array_that_a_launch_passes_twice_is_named(tmp_path: Path) -> None:
    source = wrong.source_of("heat_dissipation", "01_pointer_copied.patch", tmp_path)
    failure = check("heat_dissipation", "01", source, tmp_path, "--dataset", "plate").failures()[0]
    launch = next(n for n, line in enumerate(source.read_text().splitlines(), 1) if "update_kernel<<<grid" in line)
    message = f"Two arguments of the launch at line {launch} point to the same array. Race on "
    assert (failure["cause"], message in failure["message"]) == ("race", True), failure
    assert "std::swap" in failure["hint"]


@pytest.mark.skipif(BACKEND != "cpu", reason="the sanitizer is tested on the CPU backend")
@pytest.mark.parametrize(
    ("lab", "stage", "earlier", "technique"),
    [
        ("image_histogram", "03", "01_global_atomics", "bins in shared memory"),
        ("smoothing_filter", "02", "01_naive", "weights in constant memory"),
    ],
)
def test_an_earlier_stages_solution_gets_a_note_and_loses_no_points(
    lab: str, stage: str, earlier: str, technique: str, tmp_path: Path
) -> None:
    result = check(lab, stage, ROOT / f"solutions/{lab}/{earlier}.cu", tmp_path)
    assert result.status == 0
    assert result.stage["score"]["hygiene"] == result.stage["score"]["hygiene_max"]
    notes = [note for note in result.stage["notes"] if note.startswith("Technique not used, or needless work: ")]
    assert notes and all(f"This stage is about {technique}." in note for note in notes)
    assert "Note: Technique not used, or needless work: " in result.output


@pytest.mark.skipif(BACKEND != "cpu", reason="the sanitizer is tested on the CPU backend")
def test_elements_that_are_computed_twice_are_noted(tmp_path: Path) -> None:
    source = tmp_path / "02_steps_by_one_block.cu"
    solution = (ROOT / "solutions/vector_add/02_grid_stride.cu").read_text()
    source.write_text(solution.replace("i += threads", "i += blockDim.x"))
    result = check("vector_add", "02", source, tmp_path)
    assert result.status == 0
    (note,) = result.stage["notes"]
    assert "another thread has already written" in note and "gridDim.x * blockDim.x?" in note


@pytest.mark.skipif(BACKEND != "cpu", reason="only the CPU backend knows the line of a launch")
def test_threads_without_work_are_noted(tmp_path: Path) -> None:
    source = tmp_path / "01_n_blocks.cu"
    solution = (ROOT / "solutions/vector_add/01_one_thread_per_element.cu").read_text()
    source.write_text(solution.replace("(n + BLOCK - 1) / BLOCK;", "n;"))
    result = check("vector_add", "01", source, tmp_path, "--dataset", "readable")
    assert result.status == 0
    assert any("launches 25,600,000 threads" in note for note in result.stage["notes"])


def test_a_starter_is_recognised_with_the_file_next_to_it(tmp_path: Path) -> None:
    starter = ROOT / "starter/vector_add/01_one_thread_per_element.cu"
    source = tmp_path / starter.name
    source.write_text("// mine\n" + starter.read_text())
    (tmp_path / "01.cu.txt").write_text("edited")
    failure = check("vector_add", "01", source, tmp_path, "--no-check-mode", "--no-cuda-only").failures()[0]
    assert failure["cause"] == "starter"
    assert "Did you edit" in failure["hint"] and "01.cu.txt is in the same folder" in failure["hint"]
    source.write_text(starter.read_text().replace("{\n", "{\n    int changed = 1;\n", 1))
    failure = check("vector_add", "01", source, tmp_path, "--no-check-mode", "--no-cuda-only").failures()[0]
    assert failure["cause"] == "not_launched"


def test_after_a_time_out_other_datasets_are_not_run(tmp_path: Path) -> None:
    source = wrong.source_of("dot_product", "03_step_without_effect.patch", tmp_path)
    result = check("dot_product", "03", source, tmp_path, "--no-check-mode", "--no-cuda-only")
    assert [failure["cause"] for failure in result.failures()].count("timeout") == 1
    assert "Not run after that: below_block, whole_block" in result.output
    assert "warning: for increment expression has no effect" in result.output


@pytest.mark.parametrize("lab", labs())
def test_wrong_submissions_are_listed_and_enough(lab: str) -> None:
    folder = ROOT / "tests/labs" / lab
    files = [entry["file"] for entry in wrong.entries(lab)]
    assert set(files) == {file.name for pattern in ("*.cu", "*.patch") for file in folder.glob(pattern)}
    minimum = 1 if lab in uncommitted_labs() else 6  # a skeleton has one to begin with
    assert len(files) >= minimum, (
        f"{lab} has {len(files)} wrong submissions, and a lab in git needs {minimum}. Write a typical mistake to "
        f"tests/labs/{lab}/<stage>_<mistake>.cu, and list the file in wrong.json there, with the verdict and the "
        "cause that it must get. The files of other labs are examples."
    )


@pytest.mark.parametrize("lab", labs())
def test_all_patches_apply(lab: str, tmp_path: Path) -> None:
    for file in {entry["file"] for entry in wrong.entries(lab)}:
        wrong.source_of(lab, file, tmp_path)
