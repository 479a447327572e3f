"""Compare a few generated programs on the CPU backend with the oracle and recorded GPUs, and test this comparison.

`make soak` and `python3 -m tests.differential.compare` run many more.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.differential import record, recorded
from tests.differential.compare import compare, differences
from tests.differential.cpu import BUILD, Outcome, build_runtime, read, run_everywhere
from tests.differential.emit import program
from tests.differential.generator import make_case
from tests.differential.oracle import digest_of, flaws_of
from tests.differential.plants import PLANTS, inspect, plant, planted
from tests.share import THOROUGH

needs_rewriter = pytest.mark.skipif(not (BUILD / "cpu/rewrite").exists(), reason="build/cpu/rewrite is not built")
nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory) -> list[Path]:
    return build_runtime(tmp_path_factory.mktemp("differential"))


@needs_rewriter
def test_all_modes_agree_with_the_oracle_and_the_gpu(runtime, tmp_path):
    cases = range(8 if THOROUGH else 3)  # the soak part "generated" runs hundreds
    result = compare(cases, keep=tmp_path, runtime=runtime)
    assert result["found"] == []
    assert result["cases"] == len(cases)


@needs_rewriter
def test_the_sanitizer_finds_a_planted_bug_of_each_kind(runtime, tmp_path):
    confirmed = {case.plant: (case, flaws) for case, flaws in planted(range(36)) if flaws}
    assert set(confirmed) == set(PLANTS)
    assert inspect(list(confirmed.values()), tmp_path, runtime)["missed"] == []


@needs_rewriter
def test_a_wrong_program_is_detected(runtime, tmp_path):
    case = make_case(0)
    case.buffers[0].seed += 1
    outcome = run_everywhere([(0, [case])], tmp_path, ["fast"], runtime=runtime)["fast"][0]
    (line,) = differences(0, "fast", outcome, digest_of(make_case(0)), None)
    assert "the oracle's is" in line


def test_differences_name_the_error():
    assert differences(3, "fast", Outcome(7), 7, f"{7:016x}") == []
    assert differences(3, "fast", Outcome(7), 7, recorded.FAILED) == [
        f"case 3: the oracle's digest is {7:016x}, the GPU's {recorded.FAILED}"
    ]
    with_finding = Outcome(7, ["warplab-finding: race pc=0x1", "warplab-finding: note pc=0x1"])
    assert differences(3, "sanitizer", with_finding, 7, None) == ["case 3, sanitizer: warplab-finding: race pc=0x1"]
    without_digest = read("case 3\nwarplab: no\n")[3]
    assert differences(3, "fast", without_digest, 7, None) == ["case 3, fast: warplab: no"]


def test_generated_programs_have_no_flaw():
    assert {seed: flaws for seed in range(40) if (flaws := flaws_of(make_case(seed)))} == {}


def test_the_oracle_detects_planted_bugs():
    for kind in PLANTS:
        cases = [case for seed in range(12) if (case := plant(seed, kind))]
        assert any(flaws_of(case) for case in cases), kind


def test_a_seed_always_gives_the_same_program():
    assert program([make_case(5)]) == program([make_case(5)])
    assert program([make_case(5)]) != program([make_case(6)])


def test_the_oracle_agrees_with_recorded_gpus():
    known, stale = recorded.digests(range(200 if THOROUGH else 30))
    if not known and not stale:
        pytest.skip("no GPU has recorded tests/differential/recorded.json yet")
    assert stale == [], "the generator has changed: run python3 -m tests.differential.record on a machine with a GPU"
    assert {n: f"{digest_of(make_case(n)):016x}" for n in known} == known


def test_a_changed_program_makes_its_record_stale(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "FILE", tmp_path / "recorded.json")
    source = recorded.hash_of(program(recorded.group_cases(0), 0))
    record = {"device": "a GPU", "explained": {"nvcc": [97]}}
    recorded.save(record | {"groups": {"0": {"source": source, "digests": "0123456789abcdef" * 100}}})
    assert recorded.digests(range(96, 102)) == (dict.fromkeys((96, 98, 99), "0123456789abcdef"), [])
    recorded.save(record | {"groups": {"0": {"source": "of another", "digests": ""}}})
    assert recorded.digests(range(3)) == ({}, [0])


@pytest.mark.skipif(not nvcc, reason="there is no nvcc")
def test_nvcc_compiles_generated_programs(tmp_path):
    source = tmp_path / "cases.cu"
    source.write_text(program([make_case(seed) for seed in range(6 if THOROUGH else 2)]))
    command = [nvcc, *record.FLAGS, "-arch=sm_90", "-o", tmp_path / "cases", source]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[:2000]
