"""On a machine with GPUs, each worker gets its own cores, as in a batch, because the threads of a hand-in would disturb
the judges of other hand-ins. The judges take turns on a GPU.

BACKEND=cuda pytest -n N tests/hostile
"""

from __future__ import annotations

import os

from grader.python.batch.grade.run import cores, list_gpus, share_cores
from tests.labs.conftest import BACKEND

worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
if BACKEND == "cuda" and worker.isdecimal() and (gpus := list_gpus()):
    number, workers = int(worker), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus[number % len(gpus)]
    os.sched_setaffinity(0, share_cores(cores(), workers)[0][number])
