"""The plan of a batch: which files are converted, under which names, with which options."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from ... import __version__
from ...ir.errors import UsageError, quoted
from .. import config, files, sniff
from ..files import Found, Stamp, Unreadable
from ..loading import SIDECAR_SUFFIX
from ..registry import Format, declarations, find
from ..saving import ConvertOptions
from .manifest import Foreign, Manifest, is_own


class Job(msgspec.Struct, frozen=True, eq=False):
    """A file to convert.

    Attributes:
        source: The source folder, as the manifest names it.
        input: From the source folder.
        output: From the destination folder.
        format: Format of the input.
        target: Format of the output.
        request: Digest of target, options and version.
        options: How.
        size: Bytes of the input.
    """

    source: str
    input: str
    output: str
    format: str
    target: str
    request: str
    options: ConvertOptions
    size: int


class Plan(msgspec.Struct, eq=False):
    """What a batch has to look after.

    Attributes:
        jobs: Every file of a known format.
        foreign: Files that no format recognises.
        unreadable: What could not be looked into.
        stamps: Stamps of all files below the source folder.
    """

    jobs: list[Job] = []
    foreign: list[Foreign] = []
    unreadable: list[Unreadable] = []
    stamps: dict[str, Stamp] = {}


class Choice(msgspec.Struct, frozen=True, eq=False):
    """What of a tree is converted, and how.

    Attributes:
        source, destination: The folders.
        stated: Options that the command line states.
        glob, exclude: Patterns as in ``.gitignore``; no pattern takes everything, or leaves nothing out.
    """

    source: str
    destination: str
    stated: config.Settings
    glob: list[str]
    exclude: list[str]


def make_plan(choice: Choice, manifest: Manifest) -> Plan:
    """Look through the source folder.

    Raises:
        UsageError: Two inputs would be written to one output, an output would become an input, or nobody says which
            format an output is to have.
    """
    plan = Plan()
    options_for = _options(choice)
    inside = _destination_inside(choice)
    for found in files.walk(choice.source):
        if isinstance(found, Unreadable):
            plan.unreadable.append(found)
            continue
        if is_own(found.path) or (inside is not None and found.path.startswith(inside)):
            continue
        plan.stamps[found.path] = found.stamp
        if not found.path.endswith(SIDECAR_SUFFIX) and _is_chosen(found.path, choice):
            _plan_file(found, plan, choice, manifest, options_for)
    _check_outputs(plan, choice)
    return plan


def _destination_inside(choice: Choice) -> str | None:
    """The destination as a path in the source folder, where it lies in it."""
    if files.is_url(choice.source) or files.is_url(choice.destination):
        return None
    path = os.path.relpath(os.path.realpath(choice.destination), os.path.realpath(choice.source)).replace(os.sep, "/")
    return None if path.startswith("..") or path == "." else path + "/"


def _is_chosen(path: str, choice: Choice) -> bool:
    chosen = not choice.glob or config.matches(tuple(choice.glob), path)
    return chosen and not (choice.exclude and config.matches(tuple(choice.exclude), path))


def _plan_file(found: Found, plan: Plan, choice: Choice, manifest: Manifest, options_for: _OptionsFor) -> None:
    asked = options_for(found.path)
    known = asked.source if asked.source is not None else manifest.known_format(found.path, found.stamp)
    try:
        format_id = _sniffed(files.join(choice.source, found.path)) if known is None else known
    except files.FileError as error:
        name = files.join(choice.source, found.path)
        plan.unreadable.append(Unreadable(found.path, str(error).removeprefix(f"{name}: ")))
        return
    if not format_id:
        plan.foreign.append(Foreign(manifest.source, found.path, found.stamp))
        return
    if asked.target is None:
        name = files.join(choice.source, found.path)
        raise UsageError(f"{name}: the format of its output is missing; say --to FORMAT")
    plan.jobs.append(
        Job(
            source=manifest.source,
            input=found.path,
            output=output_path(found.path, format_id, asked.target),
            format=format_id,
            target=asked.target.id,
            request=asked.request,
            options=asked.options,
            size=found.stamp.size,
        )
    )


def _sniffed(name: str) -> str:
    declaration = sniff.of_file(name)
    return declaration.id if declaration else ""


def output_path(path: str, format_id: str, target: Format) -> str:
    """Where the output for an input goes: into the same folder of the mirrored tree, under the same name.

    Args:
        path: The input, from the source folder.
        format_id: Its format.
        target: The format of the output.
    """
    folder, _, name = path.rpartition("/")
    declared = {declaration.id: declaration for declaration in declarations()}
    kept_in = declared[format_id].folder if format_id in declared else ""
    above = folder.rpartition("/")[2]
    if kept_in and name in declared[format_id].names and above.lower().endswith(kept_in) and len(above) > len(kept_in):
        folder, name = folder.rpartition("/")[0], above[: -len(kept_in)]
    elif name in target.declaration.names:
        return path
    else:
        name = _stem(name)
    if target.declaration.suffixes:
        named = name + target.declaration.suffixes[0]
    else:
        named = f"{name}{target.declaration.folder}/{target.declaration.names[0]}"
    return f"{folder}/{named}" if folder else named


def _stem(name: str) -> str:
    endings = [ending for declaration in declarations() for ending in declaration.suffixes]
    for ending in sorted(endings, key=len, reverse=True):
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return os.path.splitext(name)[0]


def _check_outputs(plan: Plan, choice: Choice) -> None:
    taken: dict[str, str] = {}
    inside = _source_inside(choice)
    for job in plan.jobs:
        if job.output in taken:
            pair = f"{quoted(taken[job.output])} and {quoted(job.input)}"
            raise UsageError(f"{pair} would both be written to {quoted(job.output)}; --exclude one of them")
        taken[job.output] = job.input
        if inside is not None and job.output.startswith(inside):
            raise UsageError(f"{quoted(job.input)} would be written into the source folder, as {quoted(job.output)}")


def _source_inside(choice: Choice) -> str | None:
    """The source as a path in the destination folder, where it lies in it."""
    return _destination_inside(msgspec.structs.replace(choice, source=choice.destination, destination=choice.source))


# -- options ----------------------------------------------------------------------------------------------------------


class Asked(msgspec.Struct, frozen=True, eq=False):
    """What is asked for an input.

    Attributes:
        source: Its format, where that is stated.
        target: The format of its output, where that is stated.
        request: Digest of target, options and version.
        options: How it is converted.
    """

    source: str | None
    target: Format | None
    request: str
    options: ConvertOptions


_OptionsFor = Callable[[str], Asked]


def _options(choice: Choice) -> _OptionsFor:
    """How options are found for an input; what was found for one is kept for others that are told the same."""
    configs: dict[str, config.ConfigFile | None] = {}
    known: dict[bytes, Asked] = {}

    def options_for(path: str) -> Asked:
        name = files.join(choice.source, path)
        folder = files.parent(name)
        if folder not in configs:
            configs[folder] = config.find_config(name)
        settings = config.merged(config.layers(configs[folder], name, choice.stated))
        key = msgspec.json.encode(settings)
        if key not in known:
            known[key] = _asked(settings)
        return known[key]

    return options_for


def _asked(settings: config.Settings) -> Asked:
    target = config.given(settings.target)
    options = msgspec.structs.replace(config.convert_options(settings), parents=True)
    return Asked(
        source=config.given(settings.source),
        target=None if target is None else find(target),
        request=_request(settings, options),
        options=options,
    )


def _request(settings: config.Settings, options: ConvertOptions) -> str:
    """A digest of everything but the input that decides what is written."""
    asked = msgspec.structs.replace(settings, force=msgspec.UNSET)
    manifest = options.read.manifest
    parts = [__version__.encode(), msgspec.json.encode(asked, order="sorted")]
    parts.append(bytes(manifest.data) if manifest else b"")
    return files.digest_of(b"\0".join(parts))
