"""The rubric for journals: handouts/rubric.json, by which graders give points, and which students see."""

from __future__ import annotations

from pathlib import Path

from grader.python.common.console import UserError
from grader.python.common.documents import read_document
from grader.python.common.schema_types import defined_by, type_of
from grader.python.common.units import show_points

FILE = Path("handouts/rubric.json")
PREFIX = "journal: "  # precedes a criterion's name in the list of points that were given by hand

Level = type_of("rubric", "level")


@defined_by("rubric", "criterion")
class Criterion:
    @property
    def item(self) -> str:
        """Return the name under which points for this criterion are stored."""
        return PREFIX + self.name

    @property
    def max_points(self) -> float:
        return max(level.points for level in self.levels)

    def find_level(self, typed: str) -> Level:
        """Return the level whose name or points were typed. Raises UserError with the choices."""
        plain = " ".join(typed.split()).casefold()
        for level in self.levels:
            if plain.replace(",", ".") in (level.name, show_points(level.points)):
                return level
        choices = ", ".join(f"{level.name} ({show_points(level.points)})" for level in self.levels)
        raise UserError(f"{typed!r} is not a level of {self.name}. Levels: {choices}.")


@defined_by("rubric")
class Rubric:
    def find(self, typed: str) -> Criterion:
        """Return the criterion whose name was typed. Raises UserError with the choices."""
        plain = " ".join(typed.split()).casefold()
        for criterion in self.criteria:
            if criterion.name == plain:
                return criterion
        names = ", ".join(criterion.name for criterion in self.criteria)
        raise UserError(f"The rubric has no criterion {typed!r}. Criteria: {names}.")

    def describe_level(self, item: str, points: float) -> str:
        """Return the sentence of the level with these points for an item; empty if there is none."""
        levels = [level for criterion in self.criteria if criterion.item == item for level in criterion.levels]
        return next((level.about for level in levels if level.points == points), "")


def read_rubric(root: Path) -> Rubric:
    """Read the rubric. Raises UserError if names or points in it are not unique."""
    rubric = read_document(Rubric, root / FILE, "a rubric")
    require_unique(root / FILE, "criteria", [criterion.name for criterion in rubric.criteria])
    for criterion in rubric.criteria:
        place = f"levels of {criterion.name}"
        require_unique(root / FILE, place, [level.name for level in criterion.levels])
        require_unique(root / FILE, place, [show_points(level.points) for level in criterion.levels], "points")
    return rubric


def require_unique(file: Path, entries: str, values: list[str], kind: str = "names") -> None:
    """Raise UserError if there are no values, or if two are equal. For the message: `entries` says which entries of the
    file have the values, and `kind` what the values are."""
    if not values or len(set(values)) < len(values):
        raise UserError(f"{file}: the {entries} must have different {kind}, and at least one must exist.")
