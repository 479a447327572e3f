"""Compare the predictions for each optimisation, by the student's note and by the model, with measured times.

A prediction is compared only with a measurement of the same text on the same dataset and, if it is the model's, on the
GPU that was modelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.python.common.report import Measurement, ModelledTime
from grader.python.common.units import NONE, show_factor, show_seconds
from grader.python.journal.optimisations import Journal, Optimisation, place_of
from grader.python.journal.records import Record

NAMES = ["Optimisation", "You predicted", "Modelled", "Measured", "You were off by", "The model was off by"]
CLOSE = 1.05  # a smaller factor is shown without a direction


@dataclass(frozen=True)
class Prediction:
    """The predicted times of an optimisation and, if a GPU ran the same text, the measured time."""

    optimisation: Optimisation
    yours_s: float | None
    modelled: ModelledTime | None
    record: Record | None
    measured: Measurement | None

    @property
    def cells(self) -> list[str]:
        """Return a cell for each name in NAMES. Modelled and measured times are in different columns."""
        model_s = self.modelled.time.median if self.modelled else None
        modelled = NONE
        if self.modelled:
            time = self.modelled.time
            modelled = f"{show_seconds(time.median)} ({show_seconds(time.low)} to {show_seconds(time.high)})"
        measured_s = self.measured.median_s if self.measured else None
        return [
            self.optimisation.id,
            show_seconds(self.yours_s),
            modelled,
            show_seconds(measured_s),
            show_miss(self.yours_s, measured_s),
            show_miss(model_s, measured_s),
        ]


def find_predictions(journal: Journal) -> list[Prediction]:
    """Return the optimisations with a prediction, in the journal's order."""
    predictions = [find_prediction(journal, optimisation) for optimisation in journal.shown]
    return [prediction for prediction in predictions if prediction.yours_s or prediction.modelled]


def find_prediction(journal: Journal, optimisation: Optimisation) -> Prediction:
    place = journal.main.place if journal.main else None
    records = optimisation.records_of_chosen(place)
    modelled = next(find_modelled(records), None)
    yours_s = optimisation.note.predicted_s if optimisation.note else None
    dataset = modelled.dataset if modelled else journal.main.dataset if journal.main else ""
    gpu = modelled.gpu if modelled else place.gpu if place else ""
    timed = [
        (record, measurement)
        for record in records
        if record.report and place_of(record).is_gpu and record.machine.gpu == gpu
        for measurement in record.measurements
        if measurement.dataset == dataset
    ]
    record, measured = timed[0] if timed else (None, None)
    return Prediction(optimisation, yours_s, modelled, record, measured)


def find_modelled(records: Sequence[Record]) -> Iterator[ModelledTime]:
    for record in records:
        if record.stage_report and record.stage_report.modelled_time and record.stage_report.modelled_time.time:
            yield record.stage_report.modelled_time


def show_miss(predicted_s: float | None, measured_s: float | None) -> str:
    """Format a prediction's error: 2.5x, too slow. Return a dash if one of the times is unknown."""
    if not predicted_s or not measured_s:
        return NONE
    factor = max(predicted_s / measured_s, measured_s / predicted_s)
    if factor < CLOSE:
        return "less than 5%"
    return f"{show_factor(factor)}, too {'slow' if predicted_s > measured_s else 'fast'}"


def describe_predictions(predictions: Sequence[Prediction]) -> str:
    """Explain the table of predictions."""
    words = "You predicted: from your notes; only you know whether you wrote the number before you measured."
    late = [prediction.optimisation.id for prediction in predictions if prediction.yours_s and is_late(prediction)]
    if late:
        words += f" These notes were begun after the measurement: {', '.join(late)}."
    modelled = sorted(
        {
            f"the {prediction.modelled.gpu} ({prediction.modelled.dataset})"
            for prediction in predictions
            if prediction.modelled is not None
        }
    )
    if modelled:
        words += f" Modelled: by make bench without a GPU, with an interval, for {' and '.join(modelled)}."
    if any(prediction.measured for prediction in predictions):
        return words + " Measured: with the same text and dataset and, if there is a modelled time, on that GPU."
    return words + " Measured: not yet; make import REPORT=FILE adds a report from a GPU."


def is_late(prediction: Prediction) -> bool:
    """Return whether the note was begun after the measurement."""
    note, record = prediction.optimisation.note, prediction.record
    return bool(note and note.begun and record and note.begun > record.when)
