"""Find the paragraph of a lab's handout that explains a mistake.

Each cause of a mistake belongs to a topic, which has patterns for the paragraph that explains it. The search begins in
the stage's own section, continues in the sections of earlier stages, the nearest first, and ends with the sections
before the first stage, of which only the list items with a bold title count. If no paragraph matches, the answer is the
stage's section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMMANDS = ("**Count:", "**Measure:", "**Check:")  # the beginnings of paragraphs with commands to type
# For each topic: its causes, and the patterns that its paragraph may match, the best first.
TOPICS = (
    (
        "race atomic_race missing_barrier shared_not_cleared lost_maximum deadlock",
        (r"\*\*Barrier", r"__syncthreads|\bbarrier", r"\batomic"),
    ),
    ("return_before_barrier", (r"must reach the barrier|reach a barrier", r"__syncthreads|\bbarrier")),
    ("lost_updates lost_counts first_lost last_lost value_added", (r"\*\*Atomic", r"\batomic")),
    (
        "not_cleared added_to_garbage uninitialised wrong_clear stale_result kept_value change_not_cleared"
        " maximum_too_large",
        (r"\*\*Initial value|garbage", r"cudaMemset|set .{1,20} to 0|\bclear|\bresets?\b"),
    ),
    (
        "tail_lost blocks_rounded_down grid_too_small rows_left_out tile_incomplete vector_tail_lost component_lost"
        " partials_lost edge_cut_off tail_repeated wrong_rest",
        (r"rounded \*?up", r"last whole|whole vectors?|remaining|not a multiple|\brest\b"),
    ),
    (
        "out_of_bounds_write out_of_bounds read_past_end",
        (r"past the end|beyond the end|outside|is (?:not )?below|\bguard", r"border|edge|last block|exists"),
    ),
    (
        "one_block_only one_element_only block_size_forgotten indexed_by_position thread_rows_overlap blocks_overlap"
        " transposed comma_index transposed_index block_thread_swapped sizes_exchanged other_index"
        " block_index_forgotten",
        (r"blockIdx", r"threadIdx"),
    ),
    ("strip_cut_off", (r"`ROWS` \+ 4 rows",)),
    ("ring_overwritten", (r"\bring\b",)),
    ("wrong_pitch padding_counted", (r"\bpitch|\bpadd",)),
    ("stride_too_long steps_too_far counted_too_often step_off_by_one segment_step", (r"gridDim|stride",)),
    (
        "block_incomplete tree_not_power_of_two tree_step added_repeatedly nothing_added wrong_shuffle wrong_lane",
        (r"\btree\b|shuffle", r"[Tt]hread 0 adds"),
    ),
    ("host_memory bytes_not_elements cuda_error", (r"cudaMemcpy|cudaMalloc", r"\bbytes")),
    ("not_copied_back", (r"[Cc]opy .*back", r"cudaMemcpy")),
    ("leak", (r"cudaFree|[Ff]ree ",)),
    ("host_work", (r"copy at most|\bhost\b",)),
    ("launch_failed", (r"<<<", r"\blaunch")),
    ("timeout", (r"\bloop",)),
    ("int_overflow float_sum counter_overflow truncated", (r"overflow|size_t|wrap around|double|float",)),
    (
        "wraps_around wrapped carry sum_not_saturated full_bin_wrong wrong_cap cap_too_low all_full",
        (r"saturat|\b255\b", r"\bfull\b|\bcap\b"),
    ),
    ("mask_missing word_compared shifted_by_bits same_values bytes_reversed", (r"<< 8|\bshift",)),
    (
        "window_lost window_misplaced row_never_added wrong_window_row stored_at_wrong_step wrong_rows_used",
        (r"\bwindow", r"\bring\b"),
    ),
    ("share_lost", (r"\bshare\b",)),
    ("halo_missing halo_shifted corner_missing halo_updated wrong_mirror", (r"\bhalo|\bmirror",)),
    ("filter_ignored filter_flipped not_normalised all_zero not_weighted", (r"\bfilter\b",)),
    ("crash misaligned", (r"\b[Aa]lign|multiple of 16",)),
    ("buffers_not_swapped old_partials field_too_early", (r"\bswap",)),
    ("stops_one_late tested_every_k_iterations threshold_counts wrong_threshold change_with_sign", (r"\bthreshold",)),
    ("change_not_returned", (r"largest change in the last iteration",)),
    ("other_iteration", (r"64 changes at once", r"largest change of the previous iteration")),
    ("bins_missing bins_lost one_bin_only", (r"\bbins?\b",)),
    ("bytes_lost", (r"\bbytes?\b",)),
)
PATTERNS = {cause: patterns for causes, patterns in TOPICS for cause in causes.split()}


@dataclass(frozen=True)
class Answer:
    """The title of a handout's section, and one of its paragraphs, which is empty if the whole section is the
    answer."""

    section: str
    paragraph: str = ""

    def anchor(self) -> str:
        """Return the section's anchor, which GitHub and the kit's HTML pages make from the title."""
        return re.sub(r"[^\w -]", "", self.section.lower()).replace(" ", "-")


def find_answer(handout: str, stage: str, cause: str) -> Answer:
    """Return the place in a handout that explains a mistake in a stage."""
    sections = dict(read_sections(handout))
    titles = list(sections)
    if stage not in titles:
        return Answer(stage)
    stage_index = titles.index(stage)
    first = next(number for number, title in enumerate(titles) if title[:2].isdigit())
    for number in [*range(stage_index, first - 1, -1), *range(first)]:
        title = titles[number]
        texts = [text for text in sections[title] if number >= first or text.startswith("- **")]
        for pattern in PATTERNS.get(cause, ()):
            if paragraph := next((text for text in texts if re.search(pattern, text)), ""):
                return Answer(title, paragraph)
    return Answer(stage)


def read_sections(handout: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the paragraphs of each section. Items of lists count as paragraphs; tables, pictures, code,
    commands to type and questions are left out."""
    parts = re.split(r"^## +", handout, flags=re.MULTILINE)
    for part in parts[1:]:
        title, _, text = part.partition("\n")
        yield title.strip(), list(read_paragraphs(text.partition("**Questions")[0]))


def read_paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a section as one line each."""
    for block in re.split(r"\n\s*\n|\n(?=- |\d+\. )", text):
        if not block.startswith(("    ", "|", "<!--", "!", "#", *COMMANDS)) and block.strip():
            yield " ".join(block.split())


def name_file(lab: str) -> str:
    """Return the path of a lab's handout in the project."""
    return f"handouts/{lab}.md"


def read_handout(root: Path, lab: str) -> str:
    """Return a lab's handout; an empty text if the lab has no handout."""
    file = root / name_file(lab)
    return file.read_text(encoding="utf-8") if file.is_file() else ""
