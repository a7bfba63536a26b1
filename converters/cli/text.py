"""What people read: rich on a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.errors import RigconvError, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from ...ir.report import Entry
    from ..batch import Summary
    from ..config import Explained
    from ..convert import Conversion
    from ..diff import RigDiff
    from ..survey import Cell, Survey
    from ..validate import Validation

_COLOURS = {"exact": "green", "approximated": "yellow", "dropped": "red"}


def _console(to_errors: bool = False) -> Console | None:
    """A rich console where a person reads, None in a pipe."""
    stream = sys.stderr if to_errors else sys.stdout
    if not stream.isatty():
        return None
    from rich.console import Console

    return Console(stderr=to_errors, highlight=False)


def _print_line(text: str, to_errors: bool = False) -> None:
    print(one_line(text), file=sys.stderr if to_errors else sys.stdout)


# -- conversions ------------------------------------------------------------------------------------------------------


def print_summary(conversion: Conversion) -> None:
    """What a conversion lost, a line a code; on a terminal also that it was made."""
    console = _console(to_errors=True)
    rows = _by_code(conversion.report.entries)
    if console is None:
        for severity, code, count, example in rows:
            if severity != "exact":
                _print_line(f"rigconv: {conversion.output}: {code} x {count} ({severity}): {example}", to_errors=True)
        return
    from rich.text import Text

    console.print(Text(f"{conversion.input} -> {conversion.output} ({conversion.source} -> {conversion.target})"))
    for severity, code, count, example in rows:
        console.print(Text(f"  {code} x {count}", style=_COLOURS[severity]), Text(one_line(example), style="dim"))
    if conversion.report.carried and any(row[0] == "dropped" for row in rows):
        console.print(Text("  what was dropped is carried along, and comes back on the way back", style="dim"))


def _by_code(entries: Iterable[Entry]) -> list[tuple[str, str, int, str]]:
    """Severity, code, number of entries and the first message, worst first."""
    found: dict[str, tuple[str, str, int, str]] = {}
    for entry in entries:
        _, _, count, message = found.get(entry.code, ("", "", 0, entry.message))
        found[entry.code] = (str(entry.severity), entry.code, count + 1, message)
    rank = list(reversed(_COLOURS))
    return sorted(found.values(), key=lambda row: (rank.index(row[0]), row[1]))


# -- batch ------------------------------------------------------------------------------------------------------------


def print_batch(summary: Summary) -> None:
    """What a batch did: counts, then a line for each file that failed and for each output without an input."""
    console = _console()
    counts = {
        "converted": summary.converted,
        "unchanged": summary.unchanged,
        "skipped": summary.skipped,
        "failed": len(summary.failed),
        "removed": len(summary.removed),
    }
    if console is None:
        for title, count in (counts | summary.losses).items():
            _print_line(f"{title:<{_BATCH_TITLE}}{count:>8}")
    else:
        console.print(_batch_table(counts, summary.losses))
    for failure in summary.failed:
        _print_line(f"failed: {failure.problem}")
    for output in summary.removed:
        fate = "its output was removed" if output in summary.pruned else "--prune removes its output, unless it changed"
        _print_line(f"removed: the input of {output} is gone; {fate}")


def print_turn(turn: Summary | RigconvError) -> None:
    """What watching did after a change: a line of counts and one for each file that failed, or why it did nothing."""
    if isinstance(turn, RigconvError):
        print(f"rigconv: {one_line(str(turn))}", file=sys.stderr, flush=True)  # noqa: T201
    else:
        _print_counts(turn)


def _print_counts(summary: Summary) -> None:
    if not (summary.converted or summary.failed or summary.pruned):
        return
    parts = [f"converted {summary.converted}", f"unchanged {summary.unchanged}", f"failed {len(summary.failed)}"]
    _print_line(", ".join(parts + ([f"removed {len(summary.pruned)}"] if summary.pruned else [])))
    for failure in summary.failed:
        _print_line(f"failed: {failure.problem}")
    sys.stdout.flush()


_BATCH_TITLE = 32
"""Characters of the first column."""

_BATCH_COLOURS = {"converted": "green", "failed": "red", "removed": "yellow"}


def _batch_table(counts: dict[str, int], losses: dict[str, int]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table("files", "count")
    for title, count in counts.items():
        table.add_row(Text(title, style=_BATCH_COLOURS.get(title, "") if count else "dim"), str(count))
    table.add_section()
    for code, count in losses.items():
        table.add_row(Text(code, style="yellow"), str(count))
    return table


# -- roundtrip --------------------------------------------------------------------------------------------------------


def print_survey(survey: Survey) -> None:
    """The matrices of what came back, what differs by kind of element, and every fault."""
    from ..survey import cells

    found = cells(survey.trips)
    for carry, title in ((True, "with carry"), (False, "without carry")):
        rows = [cell for cell in found if cell.carry is carry]
        if rows:
            _print_matrix(_matrix(title, rows))
    for cell in found:
        if not cell.carry:
            _print_cell(cell)
    for trip in survey.faulty:
        for fault in trip.faults:
            _print_line(f"FAILED {trip.file}: {trip.title}: {fault}")
    for item in survey.unreadable:
        _print_line(f"FAILED {item.error}")
    _print_line(_total(survey))


def _matrix(title: str, found: Sequence[Cell]) -> list[list[str]]:
    """Rows of text: the head, and a row for each format that files were of."""
    ways = sorted({cell.via for cell in found})
    texts = {(cell.source, cell.via): _cell_text(cell) for cell in found}
    head = [title, *(f"via {' -> '.join(way)}" for way in ways)]
    sources = sorted({cell.source for cell in found})
    return [head, *([source, *(texts.get((source, way), "-") for way in ways)] for source in sources)]


def _cell_text(cell: Cell) -> str:
    """How many files came back how; what differs and is not reported counts as failed."""
    counts = [f"{count} {_OUTCOMES.get(outcome, outcome)}" for outcome, count in cell.outcomes.items()]
    return ", ".join([*counts, *([f"{cell.faulty} FAILED"] if cell.faulty else [])])


_OUTCOMES = {"differs": "differ as reported"}


def _print_matrix(rows: list[list[str]]) -> None:
    console = _console()
    if console is not None:
        from rich.table import Table

        table = Table(*rows[0])
        for row in rows[1:]:
            table.add_row(*row)
        console.print(table)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in [*rows, []]:
        _print_line("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False)).rstrip())


def _print_cell(cell: Cell) -> None:
    """What files lost on one way, and what differed therefore."""
    way = " -> ".join([cell.source, *cell.via, cell.source])
    _print_line(f"{way}: worlds within {cell.world_error:.1e}, lost {_counts(cell.losses)}")
    _print_line(f"    differs without carry: {_counts(cell.elements)}")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} x {count}" for name, count in counts.items()) or "nothing"


def _total(survey: Survey) -> str:
    trips = f"{_number(survey.files, 'file')}, {_number(len(survey.trips), 'round trip')}"
    skipped = f"; {_number(len(survey.skipped), 'file')} skipped" if survey.skipped else ""
    if not survey.trips and not survey.unreadable:
        return f"no rigs were found{skipped}"
    unreadable = f", {_number(len(survey.unreadable), 'unreadable file')}" if survey.unreadable else ""
    return f"{trips}: {len(survey.faulty)} failed{unreadable}{_truth(survey)}{skipped}"


def _truth(survey: Survey) -> str:
    """Whether reports told every change; nothing where some could not be seen."""
    if survey.unlisted:
        return f"; {_number(survey.unlisted, 'change')} not reported"
    seen = survey.trips and not any(trip.error for trip in survey.trips)
    return "; every change reported" if seen else ""


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


# -- validate ---------------------------------------------------------------------------------------------------------


def print_validations(validations: list[Validation]) -> None:
    """A line a problem, and one for each file without any."""
    for validation in validations:
        for problem in validation.problems:
            kind = "warning" if problem.warning else "error"
            place = f"{problem.where}: " if problem.where else ""
            wanted = f"; expected {problem.expected}" if problem.expected else ""
            _print_line(f"{validation.file}: {kind} {problem.rule}: {place}{problem.problem}{wanted}")
        if validation.ok:
            _print_line(f"{validation.file}: ok ({validation.format})")


# -- diff -------------------------------------------------------------------------------------------------------------


def print_diff(before: str, after: str, diff: RigDiff) -> None:
    """What changed, as a tree; nothing in a pipe where nothing did."""
    from .diff_text import diff_lines

    console = _console()
    if console is None:
        for line in diff_lines(diff):
            print("  " * line.depth + one_line(line.text))  # noqa: T201
        return
    from rich.text import Text
    from rich.tree import Tree

    title = f"{before} -> {after}" if diff.changes else f"{before} and {after} say the same"
    branches = [Tree(Text(one_line(title)))]
    for line in diff_lines(diff):
        del branches[line.depth + 1 :]
        branches.append(branches[-1].add(Text(one_line(line.text), style=line.style)))
    console.print(branches[0])


# -- config -----------------------------------------------------------------------------------------------------------


def print_settings(path: str | None, rows: list[Explained]) -> None:
    """The settings that apply to an input, a line each: option, value, and who stated it."""
    _print_line(f"settings file: {path or 'none'}")
    for row in rows:
        value = (
            "not stated" if row.value is None else str(row.value).lower() if row.value in (True, False) else row.value
        )
        _print_line(f"{row.option:<10}{value!s:<12}{row.origin}")


# -- info -------------------------------------------------------------------------------------------------------------


def print_info(description: dict[str, Any]) -> None:
    """A file's content: a tree of its bones, and what else it holds, a line each."""
    name = description["name"] or "(unnamed)"
    _print_line(f"{name}: {description['format']}, {len(description['bones'])} bones")
    console = _console()
    if console is None:
        for depth, bone in _walk(description["bones"]):
            _print_line(f"{'  ' * depth}{bone}")
    else:
        console.print(_bone_tree(description["bones"]))
    for title, lines in _sections(description):
        if lines:
            _print_line(f"{title}: {len(lines)}")
            for line in lines:
                _print_line(f"  {line}")


def _walk(bones: list[dict[str, Any]]) -> Iterable[tuple[int, str]]:
    """Depth and name of each bone, in the order of a tree."""
    children: dict[str | None, list[str]] = {}
    for bone in bones:
        children.setdefault(bone["parent"], []).append(bone["name"])
    waiting = [(1, name) for name in reversed(children.get(None, []))]
    while waiting:
        depth, name = waiting.pop()
        yield depth, name
        waiting.extend((depth + 1, child) for child in reversed(children.get(name, [])))


def _bone_tree(bones: list[dict[str, Any]]) -> Any:
    from rich.text import Text
    from rich.tree import Tree

    trees: dict[str | None, Tree] = {None: Tree("bones", hide_root=True)}
    for bone in bones:
        trees[bone["name"]] = trees[bone["parent"]].add(Text(one_line(bone["name"])))
    return trees[None]


def _sections(description: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [
        ("slots, back to front", description["slots"]),
        ("meshes", [_mesh_line(mesh) for mesh in description["meshes"]]),
        ("constraints", [f"{item['name']} ({item['type']})" for item in description["constraints"]]),
        ("params", [f"{item['name']}: {len(item['bindings'])} bindings" for item in description["params"]]),
        ("animations", [f"{item['name']}: {item['seconds']:g} s" for item in description["animations"]]),
        ("textures", [f"{item['width']} x {item['height']}" for item in description["textures"]]),
        ("losses", [f"{item['code']}: {item['message']}" for item in description["losses"]]),
    ]


def _mesh_line(mesh: dict[str, Any]) -> str:
    count = mesh.get("vertex_count", len(mesh.get("vertices", ())))
    return f"{mesh['slot']} / {mesh['attachment']} ({mesh['skin']}): {count} vertices, {mesh['triangles']} triangles"


# -- formats ----------------------------------------------------------------------------------------------------------


def print_formats(rows: list[dict[str, Any]]) -> None:
    """A table of the formats."""
    lines = [
        (row["id"] or "?", row["title"] or row["module"], " ".join(_names(row)), row["error"] or row["distribution"])
        for row in rows
    ]
    console = _console()
    if console is None:
        for line in lines:
            print("\t".join(map(one_line, line)))  # noqa: T201
        return
    from rich.table import Table

    table = Table("id", "what", "written to", "from")
    for line in lines:
        table.add_row(*line)
    console.print(table)


def _names(row: dict[str, Any]) -> list[str]:
    return [*row["names"], *([f"NAME{row['folder']}/"] if row["folder"] else [])]
