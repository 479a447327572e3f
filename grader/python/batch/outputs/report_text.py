"""Write a student's feedback on a report as plain text, without the names and the data of hidden datasets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from grader.python.common.markup import show_text
from grader.python.common.report import Check, Failure, Report, Score, StageReport, modelled_points
from grader.python.common.units import plural, show_factor, show_points, show_seconds

MAX_LINES = 40  # of a compiler's log
MAX_COLUMNS = 400  # characters of a line
MAX_FINDINGS = 5
A_HIDDEN_DATASET = "a hidden dataset"


def hidden_names(report: Report) -> dict[str, str]:
    """Return the replacement for the name of each hidden dataset that was checked."""
    checks = [check for stage in report.stages for check in stage.checks]
    return {check.dataset: A_HIDDEN_DATASET for check in checks if check.hidden and check.dataset}


def describe_stage(stage: StageReport, hidden: Mapping[str, str]) -> str:
    """Return a stage's verdict, reasons and points as lines of text, without the names in `hidden`. The output of the
    student's code is never included, because it may contain the data of a hidden dataset."""
    lines = [f"{stage.stage}: {stage.verdict}"]
    if stage.error:
        lines += [*describe_failure(stage.error), "Not judged; this costs no points."]
    if stage.compilation.failure:
        lines += describe_failure(stage.compilation.failure)
        lines += describe_log(stage.compilation.log)
    lines += describe_checks([check for check in stage.checks if not check.hidden])
    lines += describe_hidden_checks([check for check in stage.checks if check.hidden])
    lines += describe_findings(stage)
    lines += describe_time(stage)
    if stage.score:
        lines += describe_score(stage.score)
    text = "\n".join(lines)
    if stage.source:
        text = text.replace(stage.source, PurePath(stage.source).name)
    return hide_names(text, hidden)


def hide_names(text: str, names: Mapping[str, str]) -> str:
    """Return the text for display, with the names of hidden datasets replaced.

    A name is one word, so each word of the text is looked up once, for any number of names. First, show_text() removes
    or replaces invisible characters, which could split a name.
    """
    return re.sub(r"\w+", lambda match: names.get(match[0], match[0]), show_text(text))


def describe_failure(failure: Failure) -> list[str]:
    """Return the message, the first wrong element, the hint and the cause."""
    lines = [failure.message]
    if failure.place:
        place = failure.place
        lines.append(f"{place.buffer}[{place.index:,}]: expected {place.expected}, got {place.actual}")
    if failure.hint:
        lines.append(f"Hint: {failure.hint}")
    return [*lines, f"Cause: {failure.cause}"]


def describe_log(log: str) -> list[str]:
    """Return the first lines of the compiler's log."""
    lines = [line[:MAX_COLUMNS] for line in log.splitlines()]
    omitted = [f"... and {plural(len(lines) - MAX_LINES, 'more line')}"] if len(lines) > MAX_LINES else []
    return [*lines[:MAX_LINES], *omitted]


def describe_checks(checks: Sequence[Check]) -> list[str]:
    """Return lines about the public datasets: how many passed, the first failure in full, and the other failures by
    cause."""
    ran = [check for check in checks if not check.skipped]
    bad = [check for check in ran if check.verdict != "passed"]
    lines = [f"{len(ran) - len(bad)} of {plural(len(ran), 'public dataset')} passed"] if ran else []
    if bad:
        lines += [f"{bad[0].dataset}: {bad[0].verdict}", *(describe_failure(bad[0].failure) if bad[0].failure else [])]
    lines += describe_other_checks(bad)
    skipped = [check.dataset for check in checks if check.skipped]
    if skipped:
        lines.append(f"Not run here: {', '.join(skipped)}")
    return lines


def describe_other_checks(bad: Sequence[Check]) -> list[str]:
    """Return a line that lists the failed datasets except the first, by cause, and lines that explain each cause other
    than the first one's."""
    by_cause: dict[str, list[Check]] = {}
    for check in bad:
        by_cause.setdefault(check.failure.cause if check.failure else "", []).append(check)
    names = {
        cause: ", ".join(check.dataset for check in checks if check is not bad[0]) for cause, checks in by_cause.items()
    }
    groups = [f"{words} ({cause})" if cause else words for cause, words in names.items() if words]
    lines = [f"Also did not pass: {'; '.join(groups)}"] if groups else []
    for first in [checks[0] for checks in by_cause.values()][1 : 1 + MAX_FINDINGS]:
        if first.failure:
            lines.append(f"{first.dataset}: {first.failure.message}"[:MAX_COLUMNS])
            lines += [f"Hint: {first.failure.hint}"[:MAX_COLUMNS]] if first.failure.hint else []
    return lines


def describe_hidden_checks(checks: Sequence[Check]) -> list[str]:
    """Return a line with the number of hidden datasets that passed, and the causes of the failures."""
    ran = [check for check in checks if not check.skipped]
    bad = [check for check in ran if check.verdict != "passed"]
    causes = sorted({check.failure.cause for check in bad if check.failure and check.failure.cause})
    if not ran:
        return []
    causes_text = f" ({', '.join(causes)})" if causes else ""
    return [f"{len(ran) - len(bad)} of {plural(len(ran), 'hidden dataset')} passed{causes_text}"]


def describe_findings(stage: StageReport) -> list[str]:
    """Return lines about the sanitizer's findings that students see."""
    findings = [finding for finding in stage.check_mode.findings if finding.is_shown] if stage.check_mode else []
    lines = []
    for finding in findings[:MAX_FINDINGS]:
        place = f"line {finding.line}: " if finding.line else ""
        lines.append(f"Sanitizer, {place}{finding.message}")
        lines += [f"Hint: {finding.hint}"] if finding.hint else []
    omitted = len(findings) - MAX_FINDINGS
    return lines + ([f"... and {plural(omitted, 'more finding')}: make inspect shows all"] if omitted > 0 else [])


def describe_time(stage: StageReport) -> list[str]:
    """Return one line with the time on the dataset that represents the stage."""
    timed = stage.main_measurement
    if not timed or not timed.median_s:
        return []
    compared = f", {show_factor(timed.over_reference)} the reference's time" if timed.over_reference else ""
    return [f"{timed.dataset}: {show_seconds(timed.median_s)} for {timed.iterations} iterations{compared}"]


def describe_score(score: Score) -> list[str]:
    """Return lines with the points of each kind, the pending kinds, and the reasons for missing points."""
    kinds = []
    for name in ("correctness", "hygiene", "speed"):
        maximum = getattr(score, f"{name}_max")
        pending = getattr(score, f"{name}_pending")
        if maximum:
            modelled = ", modelled" if name == "speed" and score.speed_modelled else ""
            earned = f"{name} {show_points(getattr(score, name))} of {show_points(maximum)}{modelled}"
            kinds.append(f"{name} pending" if pending else earned)
    lines = [f"Points: {show_points(score.total)} of {show_points(score.max)} ({', '.join(kinds)})"]
    for name in ("correctness", "hygiene", "speed"):
        if why := getattr(score, f"{name}_why"):
            lines.append(f"{name}: {why}")
    return lines


def describe_total(report: Report) -> str:
    """Return one or two sentences on the points so far, pending points, and stages that could not be judged."""
    total = report.total
    text = f"{report.lab}: {show_points(total.points)} of {show_points(total.max)} points"
    if total.pending:
        scores = [stage.score for stage in report.stages if stage.score]
        only_speed = not any(score.correctness_pending or score.hygiene_pending for score in scores)
        place = "on a GPU" if only_speed else "on a GPU or by the sanitizer"
        text += f" so far; {show_points(total.pending)} are pending: they are decided later, {place}"
    if modelled := modelled_points(report):
        text += f"; {show_points(modelled)} of the points are modelled: a GPU's measurement replaces them"
    if total.without_score:
        text += (
            f". {plural(total.without_score, 'stage')} could not be judged, which is not your fault and costs no "
            "points: they will be graded again"
        )
    return show_text(f"{text}.")


def describe_report(report: Report) -> str:
    """Return the feedback on the whole report as plain text."""
    hidden = hidden_names(report)
    return "\n\n".join([*(describe_stage(stage, hidden) for stage in report.stages), describe_total(report)]) + "\n"
