"""On a machine with GPUs each worker has one of its own and its own cores, as in a batch: two hand-ins timed on one
GPU would disturb each other, and so would the threads of one the judge of the other.

BACKEND=cuda pytest -n N tests/hostile      with N at most the number of GPUs
"""

from __future__ import annotations

import os

from grader.python.batch.grade.run import cores, list_gpus, share_cores
from tests.labs.conftest import BACKEND

worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
if BACKEND == "cuda" and worker.isdecimal() and (gpus := list_gpus()):
    number = int(worker) % len(gpus)
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus[number]
    os.sched_setaffinity(0, share_cores(cores(), len(gpus))[0][number])
