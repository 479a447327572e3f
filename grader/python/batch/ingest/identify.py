"""Match submissions to the students on the roster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grader.python.batch.ingest.columns import CANVAS_NUMBER
from grader.python.batch.ingest.entries import HOW_TO_DISTINGUISH
from grader.python.batch.ingest.names import strip_copy
from grader.python.batch.ingest.notes import OF_GROUP, Note, has_kind, kind_of, make_note
from grader.python.batch.ingest.person_names import lookup_keys
from grader.python.batch.ingest.roster import (
    Student,
    alias_key,
    can_have_name,
    describe_shared_name,
    has_name,
    ids_by_form,
    split_team,
    squeeze,
    squeezed_names,
    students_as_written,
    students_by_alias,
    students_by_group,
    students_of_names,
    students_of_unique_names,
)
from grader.python.batch.ingest.submission import MOODLE, WORKSHEET, EarlierSubmission, Submission

HOW_TO_DECIDE = "Ask these students who worked together, and decide with `override` or `points`."
HOW_TO_CORRECT_NAME = (
    "If both names belong to one person, write the hand-in's name into the roster, and repeat the command."
)
HOW_TO_GET_NUMBERS = (
    "Use a roster with this assignment's numbers: for Moodle, its grading worksheet. For a group assignment in Canvas, "
    "add Canvas's list of groups with --roster."
)
MAX_LISTED = 10  # members of a group that a note lists
MAX_IN_GROUP = 10  # a larger group is not a team: Moodle puts all students without a group into one
MAX_DIFFERING = 2  # names that may differ from the roster's for the same numbers, even if fewer names agree


def identify(
    submissions: Sequence[Submission], roster: Sequence[Student], earlier: Sequence[EarlierSubmission] = ()
) -> None:
    """Match submissions to students on the roster, first by id or number, then by name if the name is unambiguous.
    Then credit partners."""
    numbered = [submission for submission in submissions if submission.has_system_number and not submission.claim]
    in_groups = identify_by_group(numbered, roster)
    identify_by_number([submission for submission in numbered if submission not in in_groups], roster)
    by_alias, as_written = students_by_alias(roster), students_as_written(roster)
    for submission in submissions:
        if not submission.has_system_number and not submission.claim:
            ids = as_written if submission.by_make_submit else by_alias
            words = split_team(submission.key, ids.keys())
            if not words and not submission.by_make_submit:
                words = split_team(strip_copy(submission.key), ids.keys())
            assign(submission, [ids[alias_key(word)] for word in words], certain=True)
    current = {submission.key_without_roster for submission in submissions} | {
        submission.key for submission in submissions if submission.own
    }
    earlier = [submission for submission in earlier if not {submission.key_without_roster, submission.key} & current]
    unknown = [
        submission
        for submission in submissions
        if not submission.own and "other_name" not in map(kind_of, submission.notes)
    ]
    identify_by_name(unknown, submissions, roster, earlier)
    note_shared_names(unknown, roster)
    if roster:
        for submission in submissions:
            submission.notes += [] if submission.own else [make_note("not_on_roster")]
    credit_partners(submissions, roster, earlier)
    note_rivals(submissions, earlier)
    add_roster_groups(submissions, roster)


def identify_by_group(submissions: Sequence[Submission], roster: Sequence[Student]) -> list[Submission]:
    """Assign the hand-ins of a group assignment to all students of their groups, and return these hand-ins. Such a
    hand-in has its group's name, and a number: in Moodle the group's, in Canvas that of one member."""
    groups, names = students_by_group(roster), squeezed_names(roster)
    assigned = []
    for submission in submissions:
        name = squeeze(submission.name)
        team = groups.get(name, [])
        in_canvas = any(kind == CANVAS_NUMBER for student in team for kind, _ in student.ids)
        if in_canvas and not any(submission.key in student.numbers for student in team):
            continue
        if team and name not in names:
            assign(submission, team, certain=True)
            use_worksheet(submission, team)
            beginning = (
                f"For the group {submission.key_without_roster}" if len(team) > MAX_LISTED else f"For {join_ids(team)}"
            )
            submission.notes.append(
                Note(f"{beginning}, according to {'the roster' if in_canvas else WORKSHEET}.", OF_GROUP)
            )
            submission.team = ""  # the roster states who is in the group
            assigned.append(submission)
    return assigned


def join_ids(team: Sequence[Student]) -> str:
    return " and ".join(student.id for student in team)


def identify_by_number(submissions: Sequence[Submission], roster: Sequence[Student]) -> None:
    """Assign submissions to students by the course system's numbers, unless the names differ.

    If most names differ, then the roster's numbers belong to another assignment or the download's belong to teams, and
    no number counts. Other ids on the roster may be sequential numbers, so a submission with such an id only claims
    it, and only if the student has the submission's name.
    """
    numbers = {number: student for student in roster for number in student.numbers}
    pairs = [
        (submission, numbers[submission.key], submission.name)
        for submission in submissions
        if submission.key in numbers
    ]
    names = squeezed_names(roster)
    agreed = [can_have_name(student, name, names) for _, student, name in pairs]
    differing = [pair for pair, fits in zip(pairs, agreed, strict=True) if fits is False]
    names_mostly_differ = len(differing) > max(MAX_DIFFERING, agreed.count(True))
    for (submission, student, name), fits in zip(pairs, agreed, strict=True):
        if names_mostly_differ:
            submission.claim = student.id if has_name(student, name) else ""
        elif fits is False:
            submission.notes.append(
                make_note("other_name", f" {describe_names(submission, student)} {HOW_TO_CORRECT_NAME}")
            )
        else:
            assign(submission, [student], certain=True)
            use_worksheet(submission, [student])
    if names_mostly_differ:
        example = describe_names(*differing[0][:2])
        text = f" for {len(differing)} of {len(pairs)} the names differ, for example: {example}"
        differing[0][0].notes.append(make_note("other_numbers", f"{text} {HOW_TO_GET_NUMBERS}"))
    by_alias = students_by_alias(roster)
    for submission in submissions:
        if submission.key not in numbers and has_name(by_alias.get(alias_key(submission.key)), submission.name):
            submission.claim = submission.key


def describe_names(submission: Submission, student: Student) -> str:
    """Return a sentence with both names of a number: the roster's and the hand-in's."""
    return f"{submission.key_without_roster} is {student.name} on the roster, and {submission.name} here."


def assign(submission: Submission, team: Sequence[Student], certain: bool) -> None:
    """Assign a submission to these students, if there are any."""
    if not team:
        return
    submission.own, submission.certain = tuple(dict.fromkeys(student.id for student in team)), certain
    submission.key, submission.members = "+".join(submission.own), list(submission.own)
    submission.name = ", ".join(student.name or student.id for student in team)
    if times := [student.handed_in for student in team if student.handed_in]:
        submission.handed_in, submission.known_by = max(times), "the roster"


def use_worksheet(submission: Submission, team: Sequence[Student]) -> None:
    """Use the time and the late mark that Moodle's worksheet has for a hand-in, unless an instructor wrote a time into
    the roster. If one member has an extension, Moodle may mark only the other members as late: then use no mark, so
    that the time decides for each member."""
    if any(student.handed_in for student in team):
        return
    if times := [student.modified for student in team if student.modified]:
        submission.handed_in, submission.known_by = max(times), WORKSHEET
    marks = {student.marked_late for student in team} - {None}
    if len(marks) == 1:
        submission.marked_by, submission.marked_late = MOODLE, marks == {True}


def identify_by_name(
    unknown: Sequence[Submission],
    submissions: Sequence[Submission],
    roster: Sequence[Student],
    earlier: Sequence[EarlierSubmission],
) -> None:
    """Assign a submission to the student whose name it has, but only if no other submission belongs to that student or
    has that name, because students choose these names. Otherwise, add a note for the instructor. `unknown`: those of
    the `submissions` that are not identified yet."""
    claims = claimed_students(unknown, roster)
    owners = {
        member: submission.key_without_roster or submission.key for submission in earlier for member in submission.own
    }
    owners |= {member: submission.key_without_roster for submission in submissions for member in submission.own}
    rivals = Counter(student.id for _, student in claims)
    numbers = {number for student in roster for number in student.numbers}
    for submission, student in claims:
        if rivals[student.id] == 1 and student.id not in owners:
            number = (
                f"{submission.key_without_roster} with that name"
                if submission.key_without_roster in numbers
                else submission.key_without_roster
            )
            text = f" {number}. The student was found by name: {submission.name}."
            submission.notes.append(make_note("found_by_name", text))
            assign(submission, [student], certain=False)
            continue
        other_claimants = [
            claimant.key_without_roster for claimant, other in claims if other is student and claimant is not submission
        ]
        other_claimants += [owners[student.id]] if student.id in owners else []
        text = (
            f" {submission.key_without_roster} has the name {submission.name}, which is also the name of {student.id} "
            f"on the roster, but {' and '.join(sorted(other_claimants))} may belong to that student, too. "
            f"{HOW_TO_DISTINGUISH}"
        )
        submission.notes.append(make_note("same_name", text))


def note_shared_names(unknown: Sequence[Submission], roster: Sequence[Student]) -> None:
    """Add a note to each submission whose name belongs to several students on the roster."""
    students = students_of_names(roster)
    for submission in unknown:
        namesakes = next((students[name] for name in lookup_keys(submission.name) if name in students), [])
        if len(namesakes) > 1 and not submission.claim:
            sentence = describe_shared_name(submission.name, namesakes)
            text = f" {submission.key_without_roster} is not assigned. {sentence} {HOW_TO_DISTINGUISH}"
            submission.notes.append(make_note("same_name", text))


def claimed_students(submissions: Sequence[Submission], roster: Sequence[Student]) -> list[tuple[Submission, Student]]:
    """Return each submission with the student on the roster to whom it probably belongs: the one whose id it claims or,
    if it claims none, the only one who has its name. Omit submissions without such a student."""
    by_name, by_alias = students_of_unique_names(roster), students_by_alias(roster)
    return [
        (submission, by_alias[alias_key(submission.claim)]) if submission.claim else (submission, by_name[name])
        for submission in submissions
        for name in ([""] if submission.claim else lookup_keys(submission.name))
        if submission.claim or name in by_name
    ]


def credit_partners(
    submissions: Sequence[Submission], roster: Sequence[Student], earlier: Sequence[EarlierSubmission]
) -> None:
    """Add the partners in an archive's name to the submission's members, unless an id or a number shows that they have,
    or had earlier, a hand-in of their own. If only a name shows that, they become members of both submissions, and
    rank() in policy/points.py chooses one, so that nobody can replace another student's work."""
    as_written, forms = students_as_written(roster), ids_by_form(roster)
    by_name = {name: student for name, student in students_of_unique_names(roster).items() if name not in forms}
    present = {member for submission in (*submissions, *earlier) for member in submission.own}
    certain = {member for submission in (*submissions, *earlier) if submission.certain for member in submission.own}
    for submission in submissions:
        team = [as_written.get(alias_key(part)) or by_name[alias_key(part)]
                for part in split_team(submission.team, as_written.keys() | by_name.keys())]  # fmt: skip
        is_identified = "-" not in submission.team and submission.own  # the course system identifies the student
        if as_written and submission.team and not team and not is_identified:
            submission.notes.append(
                f"Its name contains the ids {submission.team}, but the roster does not contain all of them. If they "
                "are logins, give a second roster that contains logins."
            )
        if team and not {student.id for student in team} & set(submission.own):
            students_ids = " and ".join(student.id for student in team)
            text = f" {students_ids}, and not {submission.key}, who handed it in."
            submission.notes.append(make_note("names_others", text))
            continue
        submission.group = [student.id for student in team]
        for student in team:
            if student.id in submission.members:
                continue
            if student.id in present:
                submission.notes.append(f"Its name also contains {student.id}, who has a separate hand-in.")
            if student.id not in certain:
                submission.members.append(student.id)
                submission.name += f", {student.name or student.id}"
        if len(submission.members) > 1 and not has_kind(submission.notes, OF_GROUP):
            submission.notes.append(f"For {' and '.join(submission.members)}, according to its name.")


def note_rivals(submissions: Sequence[Submission], earlier: Sequence[EarlierSubmission]) -> None:
    """Add a note for the instructor to hand-ins of different teams that may belong to one student, because several name
    the student as a partner, or one does and another has the student's name."""
    claims: dict[str, list[Submission | EarlierSubmission]] = {}
    for rival in (*submissions, *earlier):
        for member in rival.members if rival.own else ():
            claims.setdefault(member, []).append(rival)
    certain = {member for submission in (*submissions, *earlier) if submission.certain for member in submission.own}
    for student, rivals in claims.items():
        teams, owners = {frozenset(rival.members) for rival in rivals}, {tuple(rival.own) for rival in rivals}
        if student in certain or len(teams) == 1 or len(owners) == 1:
            continue
        rival_names = " and ".join(
            sorted(rival.key if rival.key != student else rival.key_without_roster for rival in rivals)
        )
        text = f" {rival_names} may belong to {student}, and the one with the most points counts. {HOW_TO_DECIDE}"
        for rival in rivals:
            if isinstance(rival, Submission):
                rival.notes.append(make_note("rivals", text))


def add_roster_groups(submissions: Sequence[Submission], roster: Sequence[Student]) -> None:
    """Extend each hand-in's group with the members of its students' groups on the roster."""
    groups = [team for team in students_by_group(roster).values() if len(team) <= MAX_IN_GROUP]
    team_of = {student.id: [member.id for member in team] for team in groups for student in team}
    for submission in submissions:
        teammates = [member for own in submission.own for member in team_of.get(own, ())]
        submission.group = list(dict.fromkeys([*submission.group, *teammates]))
