"""Writes the parts of the documentation that are made of the code: report.md."""

from pathlib import Path

from rigconv.ir import codes

HERE = Path(__file__).parent

REPORT = """# Report codes

Every departure of an output is an entry of the conversion report: `--report FILE` writes it, and
`rigconv.convert` gives it. The severity belongs to the code: *exact* says it otherwise, *approximated* comes near,
*dropped* is not in the target. Dropped things travel in the carry unless `--no-carry` is given; other tools do not see
them there, so they are reported all the same. `--strict` writes nothing where an entry is not exact.

| code | severity | meaning |
|---|---|---|
"""


def report() -> str:
    """The page of the report codes."""
    rows = [f"| `{code.name}` | {code.severity} | {code.meaning} |\n" for code in codes.ALL.values()]
    return REPORT + "".join(rows)


def main() -> None:
    """Write the pages."""
    (HERE / "report.md").write_text(report(), encoding="utf-8")


if __name__ == "__main__":
    main()
