"""The command line: ``rigconv IN OUT`` and its subcommands.

Here stands the way in: it turns errors into one line and an exit status, and does what needs no option without loading
the machinery of options. The commands themselves are in :mod:`rigconv.converters.cli.app`.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable

from ...ir.errors import LossError, RigconvError, UsageError, one_line

COMMANDS = ("convert", "batch", "watch", "roundtrip", "validate", "info", "diff", "config", "formats", "schema")
"""Words that are commands where a command may stand; ``./validate`` is a file."""

OK, BAD_INPUT, USAGE, LOSS, BATCH_FAILED = 0, 1, 2, 3, 4
INTERRUPTED, TERMINATED = 130, 143

DEBUG_OPTION = "--debug"


def main() -> None:
    """Entry point of the ``rigconv`` command."""
    warnings.simplefilter("ignore", RuntimeWarning)  # numpy's; what overflows is judged by its outcome
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Do what a command line asks for, and tell the exit status."""
    _open_streams()
    debug = DEBUG_OPTION in arguments
    words = [word for word in arguments if word != DEBUG_OPTION]
    return _guarded(lambda: _dispatch(_with_paths(words)), debug)


def _with_paths(words: list[str]) -> list[str]:
    """URLs of files of this machine as the paths that they mean, so that each file has one name."""
    if not any(word[:5].lower() == "file:" for word in words):
        return words
    from ..files import named

    return [named(word) for word in words]


def _open_streams() -> None:
    """Put something in the place of streams that are closed, so that only using them fails."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 - it stays open as long as the process
    if sys.stdout is None:
        sys.stdout = open(os.devnull)  # noqa: SIM115 - for reading: output without a place to go is an error
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _dispatch(words: list[str]) -> int:
    if words == ["--version"]:
        from ... import __version__

        print(f"rigconv {__version__}")  # noqa: T201
        return OK
    if _is_plain_conversion(words) and "_RIGCONV_COMPLETE" not in os.environ:
        from .commands import convert_plainly

        return convert_plainly(*words)
    from .app import run_app

    return run_app(words)


def _is_plain_conversion(words: list[str]) -> bool:
    """Whether a command line is ``IN OUT`` and nothing else."""
    plain = len(words) == 2 and words[0] not in COMMANDS and not any(word[:1] == "-" and word != "-" for word in words)
    return plain and (words[0] == "-" or os.path.exists(words[0]))


def _guarded(action: Callable[[], int], debug: bool) -> int:
    """Turn whatever is raised into one line and an exit status."""
    try:
        return action()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; pointing it elsewhere keeps the interpreter from complaining at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT
    except io.UnsupportedOperation:
        return _report(UsageError("standard output is closed"))
    except Exception as error:
        if debug:
            raise
        return _report(error)


def _report(error: Exception) -> int:
    if isinstance(error, RigconvError):
        status = USAGE if isinstance(error, UsageError) else LOSS if isinstance(error, LossError) else BAD_INPUT
        text = str(error)
    else:
        status = BAD_INPUT
        text = f"internal error: {type(error).__name__}: {error}; --debug shows where, please report it"
    print(f"rigconv: {one_line(text)}", file=sys.stderr)  # noqa: T201
    return status
