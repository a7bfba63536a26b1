"""Settings from files: ``rigconv.toml``, or ``[tool.rigconv]`` in ``pyproject.toml``, found upward from an input.

A file holds defaults for options and rules that apply to some inputs only. What counts is, from the weakest: the
program's default, the file's defaults, its matching rules in order, the command line.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from ..ir.capabilities import Carry
from ..ir.errors import FormatError, UsageError, quoted
from ..ir.exchange import ReadOptions
from . import files
from .lowering import LoweringOptions, Plane, Pose
from .registry import find
from .saving import ConvertOptions

Value = TypeVar("Value")

FILE_NAME = "rigconv.toml"
SHARED_FILE_NAME = "pyproject.toml"
SETTINGS_FILES = (FILE_NAME, SHARED_FILE_NAME)
_TABLE = b"[tool.rigconv"

COMMAND_LINE = "command line"
DEFAULT = "default"


class Settings(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Options of a conversion, those that were stated; named as on the command line.

    Attributes:
        source: Format of inputs (``from``).
        target: Format of outputs (``to``).
        strict, carry, scale, force: As for :class:`~rigconv.converters.saving.ConvertOptions`.
        plane, pose: As for :class:`~rigconv.converters.lowering.LoweringOptions`.
        images, manifest: Paths; in a file, relative to it.
    """

    source: str | UnsetType = msgspec.field(default=UNSET, name="from")
    target: str | UnsetType = msgspec.field(default=UNSET, name="to")
    strict: bool | UnsetType = UNSET
    carry: Carry | UnsetType = UNSET
    scale: float | UnsetType = UNSET
    plane: Plane | UnsetType = UNSET
    pose: Pose | UnsetType = UNSET
    images: str | UnsetType = UNSET
    manifest: str | UnsetType = UNSET
    force: bool | UnsetType = UNSET


class Rule(Settings, kw_only=True):
    """Settings for some inputs.

    Attributes:
        match: Pattern of their paths from the file's folder, as in ``.gitignore``.
    """

    match: str


class Config(Settings, kw_only=True):
    """A file of settings.

    Attributes:
        glob, exclude, jobs: Defaults of ``rigconv batch``.
        rule: Settings for some inputs, the last one winning.
    """

    glob: list[str] | UnsetType = UNSET
    exclude: list[str] | UnsetType = UNSET
    jobs: int | UnsetType = UNSET
    rule: list[Rule] = []


class ConfigFile(msgspec.Struct, frozen=True, eq=False):
    """A file of settings that was found.

    Attributes:
        path: The file.
        config: What it says, with paths that hold from anywhere.
    """

    path: str
    config: Config


class Layer(msgspec.Struct, frozen=True, eq=False):
    """Settings, and who stated them."""

    origin: str
    settings: Settings


# -- finding and reading ----------------------------------------------------------------------------------------------


def find_config(name: str) -> ConfigFile | None:
    """The file of settings for an input: the first that is found in its folder and those above.

    Args:
        name: A path, a URL or ``-``; URLs have none, standard input has that of the working folder.

    Raises:
        FormatError: There is one, and it breaks a rule.
    """
    if files.is_url(name):
        return None
    folder = os.path.abspath(name if os.path.isdir(name) else os.path.dirname(name))
    while True:
        found = _config_in(folder)
        above = os.path.dirname(folder)
        if found is not None or above == folder:
            return found
        folder = above


def _config_in(folder: str) -> ConfigFile | None:
    own = os.path.join(folder, FILE_NAME)
    if os.path.isfile(own):
        return _read(own, ())
    project = os.path.join(folder, SHARED_FILE_NAME)
    if os.path.isfile(project) and _TABLE in bytes(files.read(project).data):
        return _read(project, ("tool", "rigconv"))
    return None


def _read(path: str, table: tuple[str, ...]) -> ConfigFile:
    import tomllib  # most inputs have no settings, and most runs are short

    try:
        value: Any = tomllib.loads(bytes(files.read(path).data).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(path, "", f"this is no TOML: {error}", "") from None
    for key in table:
        value = value.get(key, {}) if isinstance(value, dict) else {}
    try:
        config = msgspec.convert(value, Config)
    except msgspec.ValidationError as error:
        problem, _, where = str(error).partition(" - at `")
        place = ".".join(["$", *table]) + where.rstrip("`").removeprefix("$")
        raise FormatError(path, place, problem, "") from None
    folder = os.path.dirname(path)
    try:
        _check(config)
    except UsageError as error:
        raise FormatError(path, "", str(error), "") from None
    for settings in (config, *config.rule):
        _anchor(settings, folder)
    return ConfigFile(path, config)


def _check(config: Config) -> None:
    """Refuse what no command line could say.

    Raises:
        UsageError: A value makes no sense.
    """
    if config.jobs is not UNSET and config.jobs < 1:
        raise UsageError(f"jobs is {config.jobs}; it must be at least 1")
    for patterns in (given(config.glob), given(config.exclude), *([rule.match] for rule in config.rule)):
        check_patterns(patterns or ())
    for settings in (config, *config.rule):
        if settings.scale is not UNSET and not (math.isfinite(settings.scale) and settings.scale != 0):
            raise UsageError(f"scale is {settings.scale}; it must be a number other than zero")
        for format_id in (given(settings.source), given(settings.target)):
            if format_id is not None:
                find(format_id)


def _anchor(settings: Settings, folder: str) -> None:
    """Make paths hold from anywhere."""
    for name in ("images", "manifest"):
        path = getattr(settings, name)
        if path is not UNSET:
            setattr(settings, name, os.path.join(folder, path))


# -- what applies -----------------------------------------------------------------------------------------------------


def layers(found: ConfigFile | None, name: str, stated: Settings = Settings()) -> list[Layer]:
    """The settings that apply to an input, the weakest first.

    Args:
        found: The file of settings.
        name: The input.
        stated: What the command line says.
    """
    if found is None:
        return [Layer(COMMAND_LINE, stated)]
    label = os.path.relpath(found.path)
    path = os.path.relpath(os.path.abspath(name), os.path.dirname(found.path)).replace(os.sep, "/")
    rules = [
        Layer(f"{label}, rule {index} ({rule.match})", rule)
        for index, rule in enumerate(found.config.rule, 1)
        if matches((rule.match,), path)
    ]
    return [Layer(label, found.config), *rules, Layer(COMMAND_LINE, stated)]


def check_patterns(patterns: Iterable[str]) -> None:
    """Refuse patterns that ``.gitignore`` does not know.

    Raises:
        UsageError: There is one.
    """
    _spec(tuple(patterns))


def matches(patterns: tuple[str, ...], path: str) -> bool:
    """Whether a path is among those that ``.gitignore`` patterns name; one that starts with ``!`` takes out again."""
    return bool(_spec(patterns).match_file(path))


@functools.cache
def _spec(patterns: tuple[str, ...]) -> Any:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError:
        listed = ", ".join(map(quoted, patterns))
        raise UsageError(f"there is a pattern that .gitignore does not know among {listed}") from None


def settings_of(name: str, stated: Settings = Settings()) -> Settings:
    """What applies to an input, in one."""
    return merged(layers(find_config(name), name, stated))


def merged(applying: list[Layer]) -> Settings:
    """One set of settings out of several, the last statement of each winning."""
    result = Settings()
    for layer in applying:
        for name in Settings.__struct_fields__:
            value = getattr(layer.settings, name)
            if value is not UNSET:
                setattr(result, name, value)
    return result


class Explained(msgspec.Struct):
    """A setting, its value, and who stated it."""

    option: str
    value: Any
    origin: str


def explain(applying: list[Layer]) -> list[Explained]:
    """Every setting of a conversion, and why it is what it is."""
    rows = []
    for name, option in zip(Settings.__struct_fields__, Settings.__struct_encode_fields__, strict=True):
        value, origin = _DEFAULTS.get(name), DEFAULT
        for layer in applying:
            stated = getattr(layer.settings, name)
            if stated is not UNSET:
                value, origin = stated, layer.origin
        rows.append(Explained(option, value, origin))
    return rows


_DEFAULTS = {"strict": False, "scale": 1.0, "plane": Plane.XY, "pose": Pose.REST, "force": False}


def convert_options(settings: Settings) -> ConvertOptions:
    """The options of a conversion.

    Raises:
        RigconvError: A file or folder that they name is not there.
    """
    stated = {
        name: getattr(settings, name) for name in ("carry", "scale", "strict", "force") if _is_stated(settings, name)
    }
    lowering = {name: getattr(settings, name) for name in ("plane", "pose") if _is_stated(settings, name)}
    return ConvertOptions(read=read_options(settings), lowering=LoweringOptions(**lowering), **stated)


def read_options(settings: Settings) -> ReadOptions:
    """The options of reading."""
    manifest, images = given(settings.manifest), given(settings.images)
    if images is not None and not files.is_folder(images):
        raise files.FileError(f"{images}: the folder of images is not there")
    return ReadOptions(manifest=None if manifest is None else files.read(manifest), images=images)


def _is_stated(settings: Settings, name: str) -> bool:
    return getattr(settings, name) is not UNSET


def given(value: Value | UnsetType) -> Value | None:
    """A setting, or None where nobody stated it."""
    return None if value is UNSET else value
