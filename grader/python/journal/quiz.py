"""Ask a lab's quiz on the terminal: questions on the theory, before the first kernel.

python3 -m grader.python.journal.quiz LAB [--new]    (make quiz LAB=… [NEW=1])

labs/LAB/quiz.json has the questions, the right answers and the reason why each wrong choice is wrong. Students can read
them there, because the quiz gives no points. work/LAB/journal/quiz.json gets the student's answers, but never decides
which answers are right.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.python.common.console import UserError, make_parser, run_command, say, write_atomically
from grader.python.common.documents import SCHEMA, read_document
from grader.python.common.labs import choose_labs
from grader.python.common.schema_types import defined_by, type_of

ANSWERS = "quiz.json"  # in the journal's folder
MAX_ANSWERS_BYTES = 1_000_000
WIDTH = 80
LETTERS = "abcde"
NUMBER = re.compile(r"[-+]?\d{1,30}(\.\d{0,30})?(e[-+]?\d{1,2})?", re.ASCII | re.IGNORECASE)

GivenAnswer = type_of("quiz_answers", "given_answer")


@dataclass(frozen=True)
class Judgement:
    """The judgement of one answer, with the reason."""

    is_right: bool
    why: str


@defined_by("quiz", "question")
class Question:
    def judge(self, answer: str) -> Judgement | None:
        """Judge an answer; None if the question has no such answer, for example because it has changed since."""
        return self.judge_number(answer) if self.number else self.judge_choice(answer)

    def judge_choice(self, answer: str) -> Judgement | None:
        return next((Judgement(choice.right, choice.why) for choice in self.choices if choice.text == answer), None)

    def judge_number(self, answer: str) -> Judgement | None:
        if not NUMBER.fullmatch(answer):
            return None
        value, number = float(answer), self.number
        if abs(value - number.right) <= number.tolerance:
            return Judgement(True, number.why)
        reasons = (mistake.why for mistake in number.mistakes if abs(value - mistake.value) <= number.tolerance)
        return Judgement(False, next(reasons, number.otherwise))


Quiz = type_of("quiz")


@dataclass(frozen=True)
class Score:
    """The first answers to a quiz's questions."""

    first: Mapping[str, bool]  # by the id of each answered question: whether the first answer was right
    question_count: int

    @property
    def right(self) -> int:
        return sum(self.first.values())

    def __str__(self) -> str:
        unanswered = self.question_count - len(self.first)
        rest = f", {unanswered} not answered" if unanswered else ""
        return f"{self.right} of {self.question_count} right on the first try{rest}"


def has_quiz(root: Path, lab: str) -> bool:
    return quiz_of(root, lab).is_file()


def quiz_of(root: Path, lab: str) -> Path:
    return root / "labs" / lab / "quiz.json"


def read_quiz(root: Path, lab: str) -> Quiz:
    """Read a lab's quiz. Raises UserError."""
    return read_document(Quiz, quiz_of(root, lab), "a lab's quiz")


def read_answers(file: Path, lab: str) -> list[GivenAnswer]:
    """Read a student's answers; none if there is no file. Raises UserError."""
    if not file.exists():
        return []
    if file.is_file() and file.stat().st_size > MAX_ANSWERS_BYTES:
        raise UserError(f"{file}: larger than {MAX_ANSWERS_BYTES // 10**6} MB. Delete it to begin the quiz again.")
    document = read_document(type_of("quiz_answers"), file, "a file of answers", "Delete it to begin the quiz again.")
    if document.lab != lab:
        raise UserError(f"{file}: answers to the quiz of {document.lab!r}, not of {lab!r}. Move the file.")
    return document.answers


def write_answers(file: Path, lab: str, answers: Sequence[GivenAnswer]) -> None:
    """Write all answers. Raises UserError."""
    content = {"schema": SCHEMA, "lab": lab, "answers": [asdict(answer) for answer in answers]}
    write_atomically(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def count_first_tries(quiz: Quiz, answers: Sequence[GivenAnswer]) -> Score:
    """Return the score of the first answer to each question."""
    judged = {question.id: judge_all(question, answers) for question in quiz.questions}
    return Score({name: tries[0].is_right for name, tries in judged.items() if tries}, len(quiz.questions))


def judge_all(question: Question, answers: Sequence[GivenAnswer]) -> list[Judgement]:
    """Judge the answers to one question, in their order."""
    return [
        judged for answer in answers if answer.question == question.id and (judged := question.judge(answer.answer))
    ]


def read_score(root: Path, lab: str, folder: Path) -> Score | None:
    """Return the score of the answers in a journal's folder; None if there are none, or the lab has no quiz. Raises
    UserError if a file is invalid."""
    answers = read_answers(folder / ANSWERS, lab) if has_quiz(root, lab) else []
    return count_first_tries(read_quiz(root, lab), answers) if answers else None


def is_done(question: Question, answers: Sequence[GivenAnswer]) -> bool:
    """Return whether the last answer to a question is right."""
    return any(judged.is_right for judged in judge_all(question, answers)[-1:])


def ask_all(questions: Sequence[Question], lab: str, file: Path, answers: list[GivenAnswer]) -> bool:
    """Ask the questions, and write each answer at once. A question that was answered wrong is asked again after the
    others. Return False if the student stops before the end."""
    waiting = deque(questions)
    say(f"{len(waiting)} to answer. Ctrl-D stops; your answers are kept.")
    while waiting:
        question = waiting.popleft()
        answer = ask(question)
        if answer is None:
            return False
        answers.append(GivenAnswer(question.id, answer))
        write_answers(file, lab, answers)
        judged = question.judge(answer)
        say_wrapped(f"{'Right' if judged.is_right else 'Not right'}. {judged.why}")
        if not judged.is_right:
            say_wrapped(f"Read “{question.section}” in handouts/{lab}.md. You will be asked again.")
            waiting.append(question)
    return True


def ask(question: Question) -> str | None:
    """Show a question, and return the answer; None at the end of the input."""
    say()
    say_wrapped(question.text)
    for letter, choice in zip(LETTERS, question.choices, strict=False):
        say_wrapped(choice.text, f"  {letter}) ")
    unit = f" ({question.number.unit})" if question.number and question.number.unit else ""
    while True:
        try:
            text = input(f"Your answer{unit}: ").strip()
        except EOFError:
            say()
            return None
        except UnicodeError:
            text = ""
        answer = read_typed(question, text)
        if answer:
            return answer
        letters = ", ".join(LETTERS[: len(question.choices)])
        say("Type a number such as 48 or 0.5, without a unit." if question.number else f"Type a letter: {letters}")


def read_typed(question: Question, typed: str) -> str:
    """Return the number as typed, or the text of the choice with the typed letter; empty if it is neither."""
    if question.number:
        return typed if NUMBER.fullmatch(typed) else ""
    at = LETTERS[: len(question.choices)].find(typed.lower()) if len(typed) == 1 else -1
    return question.choices[at].text if at >= 0 else ""


def say_wrapped(text: str, begin: str = "") -> None:
    """Print text in lines of at most WIDTH characters; the first one begins with `begin`."""
    wrapper = textwrap.TextWrapper(WIDTH, begin, " " * len(begin), break_long_words=False, break_on_hyphens=False)
    say(wrapper.fill(text))


def main(arguments: Sequence[str]) -> int:
    """Ask the questions that are not answered right yet, or with --new all, and print the score."""
    parser = make_parser("make quiz", __doc__, root=True)
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("--new", action="store_true", help="ask all questions again (or NEW=1)")
    parser.add_argument("--work", type=Path, default=Path("work"), help="where your files are (default: work)")
    options = parser.parse_args(arguments)
    (lab,) = choose_labs(options.root, [options.lab])
    if not has_quiz(options.root, lab):
        raise UserError(f"{lab} has no quiz: there is no {quiz_of(options.root, lab)}.")
    quiz, file = read_quiz(options.root, lab), options.work / lab / "journal" / ANSWERS
    answers = read_answers(file, lab)
    before = len(answers)
    questions = [question for question in quiz.questions if options.new or not is_done(question, answers)]
    if questions and not (sys.stdin and sys.stdin.isatty()):
        raise UserError(f"The quiz needs a terminal, but its input is not one. Type in a terminal: make quiz LAB={lab}")
    is_complete = ask_all(questions, lab, file, answers) if questions else True
    say(f"\nThe quiz of {lab}: {count_first_tries(quiz, answers)}.")
    if options.new and before:
        say(f"This time: {count_first_tries(quiz, answers[before:])}.")
    again = "To answer all questions again" if is_complete else "To continue"
    say(f"{again}: make quiz LAB={lab}{' NEW=1' if is_complete else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
