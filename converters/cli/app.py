"""The commands and their options, as typer sees them."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, Any, Optional

import typer
from typer.core import TyperGroup

from ...ir.capabilities import Carry
from ...ir.compare import AGREEMENT
from ...ir.errors import UsageError, quoted
from ..batch import BatchOptions, Executor
from ..config import Settings
from ..lowering import Plane, Pose
from . import COMMANDS, OK, USAGE, commands

_ROOT_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")


class ConvertByDefault(TyperGroup):
    """A group whose command may be left out: a line that starts with none of them is a conversion."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the word ``convert`` back in where it was left out."""
        if args and args[0] not in COMMANDS and args[0].partition("=")[0] not in _ROOT_OPTIONS:
            _refuse_typo(args)
            args = ["convert", *args]
        return super().parse_args(ctx, args)


def _refuse_typo(args: list[str]) -> None:
    """A word that is no file and nearly a command was meant to be one.

    Raises:
        UsageError: It is.
    """
    import os

    near = difflib.get_close_matches(args[0], COMMANDS, n=1, cutoff=0.75)
    if near and not os.path.exists(args[0]) and "_RIGCONV_COMPLETE" not in os.environ:
        raise UsageError(f"there is no command or file {quoted(args[0])}; did you mean {quoted(near[0])}?")


app = typer.Typer(
    name="rigconv",
    cls=ConvertByDefault,
    help="Convert 2D and 3D skeleton assets.\n\nrigconv INPUT OUTPUT converts a file; see rigconv convert --help.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

# typer evaluates these at run time and has no other way to say that an option may be absent.
FromOption = Annotated[Optional[str], typer.Option("--from", metavar="FORMAT", help="Format of the input.")]  # noqa: UP045
ToOption = Annotated[Optional[str], typer.Option("--to", metavar="FORMAT", help="Format of the output.")]  # noqa: UP045
StrictOption = Annotated[
    Optional[bool],  # noqa: UP045
    typer.Option("--strict/--no-strict", help="Write nothing unless the conversion is exact."),
]
ReportOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--report", metavar="FILE", help="Write the report as JSON; - for stdout."),
]
CarryOption = Annotated[
    Optional[Carry],  # noqa: UP045
    typer.Option("--carry", help="How what the target cannot say travels.", show_default="by format"),
]
NoCarryOption = Annotated[bool, typer.Option("--no-carry", help="The same as --carry none.")]
ScaleOption = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option("--scale", help="Factor on all lengths.", show_default="1"),
]
PlaneOption = Annotated[
    Optional[Plane],  # noqa: UP045
    typer.Option("--plane", help="Where to project rigs that stand in space.", show_default="xy"),
]
PoseOption = Annotated[
    Optional[Pose],  # noqa: UP045
    typer.Option("--pose", help="Which pose to take where there is one.", show_default="rest"),
]
ImagesOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--images", metavar="DIR", help="Folder of the images, where the rig's own does not hold."),
]
ManifestOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--manifest", metavar="FILE", help="Cut manifest that places the bones of a rig spec."),
]
ForceOption = Annotated[
    Optional[bool],  # noqa: UP045
    typer.Option("--force/--no-force", help="Replace a file of another kind."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
InputArgument = Annotated[str, typer.Argument(metavar="INPUT", help="A file, a NAME.rig folder, or - for stdin.")]


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> int:
    """Convert 2D and 3D skeleton assets: rigconv INPUT OUTPUT."""
    if version:
        from . import run

        return run(["--version"])
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(USAGE)
    return OK


@app.command()
def convert(
    input_name: InputArgument,
    output_name: Annotated[str, typer.Argument(metavar="OUTPUT", help="A file, a NAME.rig folder, or - for stdout.")],
    source: FromOption = None,
    target: ToOption = None,
    strict: StrictOption = None,
    report: ReportOption = None,
    carry: CarryOption = None,
    no_carry: NoCarryOption = False,
    scale: ScaleOption = None,
    plane: PlaneOption = None,
    pose: PoseOption = None,
    images: ImagesOption = None,
    manifest: ManifestOption = None,
    force: ForceOption = None,
) -> int:
    """Convert a file; the word convert may be left out."""
    stated = _stated(
        source=source,
        target=target,
        strict=strict,
        carry=_carry(carry, no_carry),
        scale=scale,
        plane=plane,
        pose=pose,
        images=images,
        manifest=manifest,
        force=force,
    )
    return commands.convert(input_name, output_name, stated, report)


def _carry(carry: Carry | None, no_carry: bool) -> Carry | None:
    if no_carry and carry not in (None, Carry.NONE):
        raise UsageError("--no-carry and --carry contradict each other")
    return Carry.NONE if no_carry else carry


def _stated(**options: Any) -> Settings:
    """The options that the command line states."""
    images = options.get("images")
    if images is not None and not Path(images).is_dir():
        raise UsageError(f"--images {quoted(images)} is no folder")
    return Settings(**{name: value for name, value in options.items() if value is not None})


SourceFolderArgument = Annotated[str, typer.Argument(metavar="SRC", help="A folder.")]
DestinationArgument = Annotated[str, typer.Argument(metavar="DST", help="A folder; made where it is missing.")]
GlobOption = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--glob", metavar="PATTERN", help="Convert only these files; as in .gitignore, repeatable."),
]
ExcludeOption = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--exclude", metavar="PATTERN", help="Leave these out; as in .gitignore, repeatable."),
]
JobsOption = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes.", show_default="one a core"),
]
PruneOption = Annotated[bool, typer.Option("--prune", help="Remove outputs whose input is gone.")]
ForceBatchOption = Annotated[
    Optional[bool],  # noqa: UP045
    typer.Option("--force/--no-force", help="Convert what is up to date, too, and replace files of another kind."),
]


@app.command()
def batch(
    source_folder: SourceFolderArgument,
    destination: DestinationArgument,
    target: ToOption = None,
    glob: GlobOption = None,
    exclude: ExcludeOption = None,
    jobs: JobsOption = None,
    prune: PruneOption = False,
    executor: Annotated[Executor, typer.Option("--executor", help="Who does the work.")] = Executor.LOCAL,
    scheduler: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--scheduler", metavar="ADDR", help="Dask scheduler.", show_default="a cluster of this machine"),
    ] = None,
    source: FromOption = None,
    strict: StrictOption = None,
    report: ReportOption = None,
    carry: CarryOption = None,
    no_carry: NoCarryOption = False,
    scale: ScaleOption = None,
    plane: PlaneOption = None,
    pose: PoseOption = None,
    images: ImagesOption = None,
    manifest: ManifestOption = None,
    force: ForceBatchOption = None,
) -> int:
    """Convert all files of a folder, those that changed; exit status 4 if any failed."""
    stated = _stated(
        source=source,
        target=target,
        strict=strict,
        carry=_carry(carry, no_carry),
        scale=scale,
        plane=plane,
        pose=pose,
        images=images,
        manifest=manifest,
        force=force,
    )
    if scheduler is not None and executor is not Executor.DASK:
        raise UsageError("--scheduler needs --executor dask")
    options = BatchOptions(
        stated=stated,
        glob=glob or None,
        exclude=exclude or None,
        jobs=jobs,
        prune=prune,
        executor=executor,
        scheduler=scheduler,
    )
    return commands.batch(source_folder, destination, options, report)


@app.command()
def watch(
    source_folder: SourceFolderArgument,
    destination: DestinationArgument,
    target: ToOption = None,
    glob: GlobOption = None,
    exclude: ExcludeOption = None,
    jobs: JobsOption = None,
    prune: PruneOption = False,
) -> int:
    """Convert all files of a folder now and whenever one changes; options of conversions come from settings files."""
    stated = _stated(target=target)
    options = BatchOptions(stated=stated, glob=glob or None, exclude=exclude or None, jobs=jobs, prune=prune)
    return commands.watch(source_folder, destination, options)


@app.command()
def roundtrip(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, or folders to walk.")],
    via: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--via", metavar="F,F", help="Go through these formats; by default to each other one."),
    ] = None,
    tolerance: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--tolerance",
            metavar="T",
            help="How far values may be off, relatively.",
            show_default="what formats promise",
        ),
    ] = None,
    report: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--report", metavar="FILE", help="Write JUnit XML (*.xml) or JSON; - for JSON on stdout."),
    ] = None,
    source: FromOption = None,
    images: ImagesOption = None,
    manifest: ManifestOption = None,
) -> int:
    """Take files to other formats and back, and tell what changed; exit status 1 if reports did not tell all of it."""
    formats_between = None if via is None else [word.strip() for word in via.split(",")]
    stated = _stated(source=source, images=images, manifest=manifest)
    return commands.roundtrip(paths, formats_between, tolerance, report, stated)


@app.command()
def validate(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files to check.")],
    as_json: JsonOption = False,
    manifest: ManifestOption = None,
) -> int:
    """Check files against the rules of their formats; exit status 1 if any is broken."""
    return commands.validate(paths, as_json, _stated(manifest=manifest))


@app.command()
def info(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The file.")],
    as_json: JsonOption = False,
    world: Annotated[bool, typer.Option("--world", help="Tell world matrices and vertices, too.")] = False,
    source: FromOption = None,
    images: ImagesOption = None,
    manifest: ManifestOption = None,
) -> int:
    """Show what is in a file."""
    return commands.info(path, as_json, world, _stated(source=source, images=images, manifest=manifest))


@app.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A file, a NAME.rig folder, or - for stdin.")],
    after: Annotated[str, typer.Argument(metavar="B", help="What became of it, in any format.")],
    as_json: JsonOption = False,
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="Share of a value within which it counts as unchanged.")
    ] = AGREEMENT,
    source: FromOption = None,
    images: ImagesOption = None,
    manifest: ManifestOption = None,
) -> int:
    """Show what changed from one rig to another; exit status 1 if anything did."""
    stated = _stated(source=source, images=images, manifest=manifest)
    return commands.diff(before, after, as_json, tolerance, stated)


@app.command()
def config(
    path: Annotated[str, typer.Argument(metavar="PATH", help="An input.")] = ".",
    as_json: JsonOption = False,
) -> int:
    """Show which settings apply to an input, and why."""
    return commands.config(path, as_json)


@app.command()
def formats(as_json: JsonOption = False) -> int:
    """List the formats."""
    return commands.formats(as_json)


@app.command()
def schema(format_id: Annotated[str, typer.Argument(metavar="FORMAT", help="Id of the format.")]) -> int:
    """Print the JSON Schema of a format's document."""
    return commands.schema(format_id)


def run_app(words: list[str]) -> int:
    """Run a command line, and tell the exit status."""
    try:
        status = app(args=words, prog_name="rigconv", standalone_mode=False)
    except Exception as error:
        # typer brings its own copy of click, so what it raises is known by what it can do.
        format_message = getattr(error, "format_message", None)
        if format_message is None:
            raise
        raise UsageError(" ".join(format_message().split())) from None
    return status if isinstance(status, int) else OK
