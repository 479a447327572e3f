"""Find races and reads of unset shared memory while the oracle runs a grid. The results confirm planted bugs, and show
that programs without a planted bug have no races.

For each element, `Races` keeps up to two threads that wrote it and two that read it, with the numbers of barriers that
each thread had passed. Two are enough: at least one of them is not the thread that accesses the element next.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

NOBODY = -1


@dataclass
class Slots:
    """Two threads for each element, and the numbers of block barriers and warp barriers that each thread had passed."""

    thread: np.ndarray
    block_barriers: np.ndarray
    warp_barriers: np.ndarray
    atomic: np.ndarray


@dataclass
class History:
    written: np.ndarray
    writes: Slots
    reads: Slots


def new_slots(size: int) -> Slots:
    return Slots(np.full((2, size), NOBODY), *(np.zeros((2, size), int) for _ in range(2)), np.zeros((2, size), bool))


@dataclass
class Races:
    """`width` is the number of lanes that a block has in the oracle, including lanes that do not exist."""

    size: int
    width: int
    found: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.block_barriers, self.warp_barriers = np.zeros(self.size, int), np.zeros(self.size, int)
        self.histories: dict[str, History] = {}

    def barrier(self, here: np.ndarray, of_grid: bool) -> None:
        self.block_barriers[here] += 1
        if of_grid:
            for history in self.histories.values():
                history.writes, history.reads = new_slots(history.written.size), new_slots(history.written.size)

    def warp_barrier(self, here: np.ndarray) -> None:
        self.warp_barriers[here] += 1

    def access(
        self, name: str, size: int, place: np.ndarray, here: np.ndarray, writes: bool, atomic: bool, new: bool
    ) -> None:
        """Record the accesses of a mask's threads in one statement; `new`: the memory is unset at first."""
        history = self.histories.setdefault(name, History(np.full(size, not new), new_slots(size), new_slots(size)))
        lanes = np.flatnonzero(here)
        place = place[lanes]
        if not writes and not history.written[place].all():
            self.found.append(f"{name} is read before it is set")
        several = np.unique(place).size < place.size
        if writes and not atomic and several:
            self.found.append(f"two threads write one element of {name}")
        conflicts = self.conflicts(history.writes, place, lanes, atomic)
        if writes:
            conflicts |= self.conflicts(history.reads, place, lanes, atomic)
        if conflicts.any():
            self.found.append(f"race on {name}")
        self.remember(history.writes if writes else history.reads, place, lanes, atomic)
        if writes:
            history.written[place] = True

    def conflicts(self, slots: Slots, place: np.ndarray, lanes: np.ndarray, atomic: bool) -> np.ndarray:
        result = np.zeros(place.size, bool)
        for i in range(2):
            unordered = (slots.thread[i, place] != NOBODY) & ~self.ordered(slots, i, place, lanes)
            result |= unordered & ~(atomic & slots.atomic[i, place])
        return result

    def ordered(self, slots: Slots, i: int, place: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        other = slots.thread[i, place]
        same_block, same_warp = other // self.width == lanes // self.width, other // 32 == lanes // 32
        by_block = same_block & (slots.block_barriers[i, place] < self.block_barriers[lanes])
        by_warp = same_warp & (slots.warp_barriers[i, place] < self.warp_barriers[lanes])
        return (other == lanes) | by_block | by_warp

    def remember(self, slots: Slots, place: np.ndarray, lanes: np.ndarray, atomic: bool) -> None:
        """Put a thread that accesses the element now into the first place. Move the thread there to the second place if
        it is not ordered before the new one. If several threads access the element now, keep two of them."""
        last = slots.thread[0, place]
        keep = (last != NOBODY) & ~self.ordered(slots, 0, place, lanes)
        for part in (slots.thread, slots.block_barriers, slots.warp_barriers, slots.atomic):
            part[1, place[keep]] = part[0, place[keep]]
        elements, first, count = np.unique(place, return_index=True, return_counts=True)
        several = count > 1
        last = place.size - 1 - np.unique(place[::-1], return_index=True)[1]
        self.put(slots, 0, elements, lanes[first], atomic)
        self.put(slots, 1, elements[several], lanes[last][several], atomic)

    def put(self, slots: Slots, i: int, place: np.ndarray, lanes: np.ndarray, atomic: bool) -> None:
        slots.thread[i, place] = lanes
        slots.block_barriers[i, place] = self.block_barriers[lanes]
        slots.warp_barriers[i, place] = self.warp_barriers[lanes]
        slots.atomic[i, place] = atomic
