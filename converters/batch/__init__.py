"""Converting folders: a plan of what to convert, workers that do it, and a manifest of what was done.

    plan.py -> executors.py, which call work.py -> manifest.py

:mod:`.run` joins them.
"""

from __future__ import annotations

from .run import BatchOptions, Executor, Failure, Observer, Summary, run_batch

__all__ = ["BatchOptions", "Executor", "Failure", "Observer", "Summary", "run_batch"]
