"""On a machine with GPUs each worker has one of its own: two hand-ins timed on one would disturb each other.

BACKEND=cuda pytest -n N tests/hostile      with N at most the number of GPUs
"""

from __future__ import annotations

import os

from grader.course.batch.run import list_gpus
from tests.labs.conftest import BACKEND

worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
if BACKEND == "cuda" and worker.isdecimal() and (gpus := list_gpus()):
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus[int(worker) % len(gpus)]
