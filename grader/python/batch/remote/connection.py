"""Connect to a course system, with a time limit for each answer, a pause between requests, and repeated attempts.

The token comes from the environment or from a file that only its owner can read. It is never printed or stored.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes, urlsplit

from grader.python.common.console import UserError, read_text

TIMEOUT_S = 60.0  # the limit for each part of an answer
WHOLE_S = 600.0  # the limit for a whole answer
MAX_ANSWER_BYTES = 150_000_000  # more than the largest file
CHUNK_BYTES = 1_000_000
MAX_PAGES = 1000  # of a list, with 100 entries each
READ_RETRIES, BACKOFF_S = 5, 0.5  # repetitions of a request that only reads, and the pause before the first of them
BUSY = (429, 500, 502, 503, 504)  # HTTP statuses after which a request is repeated
PAUSE_S = 0.05  # between two requests
RETRY_PAUSES_S = (1, 2, 5, 15, 30, 60)  # before each further attempt
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MISSING = "Connecting to a course system needs the package canvasapi (make batch installs it)."
MAX_IN_A_ROW = 3  # after this many consecutive requests that failed in all attempts, each request gets one attempt
T = TypeVar("T")


class RetryPolicy:
    """Decides whether to repeat failed requests. If a course system does not answer for hundreds of students, the
    pauses between attempts would add up to hours."""

    def __init__(self) -> None:
        self.in_a_row = 0

    def wants_more_attempts(self) -> bool:
        return self.in_a_row < MAX_IN_A_ROW

    def record(self, is_answered: bool) -> None:
        """Record whether a request was answered, or failed in its last attempt."""
        self.in_a_row = 0 if is_answered else self.in_a_row + 1


RETRIES = RetryPolicy()


def read_token(variable: str, file: Path | None) -> str:
    """Return the access token in a file or in a variable of the environment. Raises UserError if there is none, or if
    others can read the file."""
    if file is None:
        token = os.environ.get(variable, "").strip()
        if not token:
            raise UserError(f"No access token. Put it into the variable {variable}, or into a file: --token-file FILE.")
        return token
    if not file.is_file():
        raise UserError(f"There is no {file}. Write the access token into it, and type: chmod 600 {file}")
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UserError(f"Other users can read {file}. Type: chmod 600 {file}")
    return read_text(file).strip()


def open_assignment(url: str, token: str, course: int, assignment: int) -> Any:
    """Return a Canvas assignment. Raises UserError."""
    require_secure(url)
    try:
        from canvasapi import Canvas
    except ImportError:
        raise UserError(MISSING) from None
    canvas = Canvas(url, token)
    session = canvas._Canvas__requester._session  # canvasapi has no other way to set a time limit
    adapter = make_adapter(url, token)
    for scheme in ("https://", "http://"):
        session.mount(scheme, adapter)
    return try_again(lambda: canvas.get_course(course).get_assignment(assignment), f"the assignment {assignment}")


def require_secure(url: str) -> None:
    """Raise UserError if the token would be sent unencrypted to another machine."""
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in LOOPBACK:
        raise UserError(f"{url}: use an address with https://, as in https://canvas.example.edu.")


def find_origin(url: str) -> tuple[str, str | None, int | None]:
    """Return an address's scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def withhold_token(request: Any, url: str, token: str) -> None:
    """Remove the token from a request that goes to another server than `url`, such as the address of an attachment, of
    the next page or of a redirect. Raises UserError if the token is in the request's address or body."""
    if find_origin(request.url) == find_origin(url):
        return
    request.headers.pop("Authorization", None)
    body = request.body or b""
    texts = [request.url.encode(), body.encode() if isinstance(body, str) else body]
    texts = [text for text in texts if isinstance(text, bytes)]
    # A form may percent-encode the token.
    if any(token.encode() in text for text in (*texts, *map(unquote_to_bytes, texts))):
        raise UserError(
            f"{url} leads to {urlsplit(request.url).hostname!r}, which does not get the access token. Check the"
            " address: it must be the one that the course system uses itself."
        )


def make_adapter(url: str, token: str) -> Any:
    """Return an adapter for the package requests. It waits at most TIMEOUT_S for each part of an answer, pauses for
    PAUSE_S before each request, and repeats a request that only reads, after the time that Canvas gives in Retry-After.
    It sends the token only to the course system at `url`."""
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    class RetryingAdapter(HTTPAdapter):
        pages = 0  # consecutive answers that lead to another page

        def send(self, request: Any, *arguments: Any, **options: Any) -> Any:
            withhold_token(request, url, token)
            time.sleep(PAUSE_S)
            self.max_retries = retry_reads if RETRIES.wants_more_attempts() else Retry(0, raise_on_status=False)
            send_options = {**options, "timeout": TIMEOUT_S, "stream": True}
            answer = within(WHOLE_S, lambda: HTTPAdapter.send(self, request, *arguments, **send_options), request.url)
            answer._content = read_whole(answer)  # where requests itself stores the content
            self.pages = self.pages + 1 if "next" in answer.links else 0
            if self.pages > MAX_PAGES:  # empty pages may lead to each other endlessly
                raise UserError(describe_endless_answer(request.url))
            return answer

    retry_reads = Retry(
        READ_RETRIES, status_forcelist=BUSY, allowed_methods={"GET"}, backoff_factor=BACKOFF_S, raise_on_status=False
    )
    return RetryingAdapter(max_retries=retry_reads)


def within(max_s: float, act: Callable[[], T], url: str) -> T:
    """Return the result of `act`, which sends a request. Raises its exception, or UserError after `max_s` seconds. The
    time limit of a socket would not suffice, because it begins again with each byte, even of the headers. The thread
    ends with the program."""
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(act())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return result.result(max_s)
    except TimeoutError:
        if result.done():
            raise
        raise UserError(describe_endless_answer(url)) from None


def describe_endless_answer(url: str) -> str:
    """Return a message on an endless answer, and on what to do."""
    return f"An answer of {urlsplit(url).hostname} does not end. Repeat the command to continue."


def read_whole(answer: Any) -> bytes:
    """Return the bytes of an answer. Raises UserError if it exceeds WHOLE_S or MAX_ANSWER_BYTES, for example because
    the bytes arrive one by one, or because a few bytes inflate to many; ConnectionError if bytes are missing."""
    from requests.exceptions import ConnectionError as BrokenError
    from urllib3.exceptions import HTTPError

    content, end_s = bytearray(), time.monotonic() + WHOLE_S
    try:
        while part := answer.raw.read1(CHUNK_BYTES, decode_content=True):
            content += part
            if time.monotonic() > end_s or len(content) > MAX_ANSWER_BYTES:
                answer.close()
                raise UserError(describe_endless_answer(answer.url))
    except HTTPError as error:
        raise BrokenError(error, request=answer.request) from None
    return bytes(content)


@contextmanager
def reading_answers() -> Iterator[None]:
    """Convert errors in reading an answer, which occur if it is not as documented, to UserError."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise UserError(
            f"The course system's answer is not as documented ({type(error).__name__}: {error}). Check the address, "
            "the numbers, and what the token may read. Then repeat the command."
        ) from None


def try_again(act: Callable[[], T], what: str) -> T:
    """Call a function that sends a request, several times if the request fails. `what`: the name of the request for
    messages. Raises UserError if the course system refuses the request, or if the last attempt fails."""
    from canvasapi.exceptions import CanvasException, Forbidden, InvalidAccessToken, ResourceDoesNotExist, Unauthorized
    from requests.exceptions import RequestException

    for pause_s in (*RETRY_PAUSES_S, None):
        try:
            result = act()
            RETRIES.record(is_answered=True)
            return result
        except InvalidAccessToken:
            raise UserError(
                "Canvas does not accept the access token. Make a new one in Canvas: Account > Settings."
            ) from None
        except (ResourceDoesNotExist, Unauthorized) as error:
            RETRIES.record(is_answered=True)
            raise UserError(f"Canvas has no {what}, or the token may not use it ({type(error).__name__}).") from None
        except (CanvasException, RequestException, ValueError, KeyError) as error:
            is_refused = isinstance(error, Forbidden) and "rate limit" not in str(error).lower()
            if pause_s is None or is_refused or not RETRIES.wants_more_attempts():
                RETRIES.record(is_answered=is_refused)
                raise UserError(f"{what} failed: {type(error).__name__}. Repeat the command to continue.") from None
            time.sleep(pause_s)
    raise AssertionError("the last attempt returns or raises")
