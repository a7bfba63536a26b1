"""A format of another distribution, installed into a folder of its own: a line a bone."""

import subprocess
import sys
from pathlib import Path

PLUGIN = '''
"""A format of one line a bone: name, parent or -, x, y."""

import msgspec
import numpy as np

from rigconv.formats import Declaration
from rigconv.ir.capabilities import BoneOrder, Capabilities, Carry, SlotKind
from rigconv.ir.errors import FormatError
from rigconv.ir.rig import Bone, Rig, Skeleton

DECLARATION = Declaration(id={id!r}, title="points", module="points_format", magic=b"POINTS", suffixes=(".points",))

CAPABILITIES = Capabilities(
    dimensions=3, shear=False, depth_scale=True, inherit=frozenset(), several_roots=True,
    bone_order=BoneOrder.PARENT_FIRST, bind=False, bone_fields=frozenset(), parts=frozenset(), slots=SlotKind.NONE,
    attachments=frozenset(), blend_modes=frozenset(), masks=False, constraints=frozenset(), carry=Carry.SIDECAR,
)


class Schema(msgspec.Struct):
    pass


def read(reading):
    rows = [line.split() for line in bytes(reading.source.data).decode().splitlines()[1:]]
    if not rows:
        raise FormatError(reading.file, "line 1", "there are no bones", "a line a bone")
    names = [row[0] for row in rows]
    local = np.tile(np.eye(4), (len(rows), 1, 1))
    local[:, :2, 3] = [[float(value) for value in row[2:]] for row in rows]
    parent = np.array([-1 if row[1] == "-" else names.index(row[1]) for row in rows])
    return Rig(origin={id!r}, skeleton=Skeleton(bones=[Bone(name=name) for name in names], parent=parent, local=local))


def write(rig, writing):
    rows = zip(rig.skeleton.names, rig.skeleton.parent_names, rig.skeleton.local)
    lines = [f"{{name}} {{parent or '-'}} {{local[0, 3]}} {{local[1, 3]}}" for name, parent, local in rows]
    return ["\\n".join(["POINTS", *lines, ""]).encode()]
'''


def install(site: Path, format_id: str, code: str | None = None) -> Path:
    (site / "points-1.2.dist-info").mkdir(parents=True)
    (site / "points-1.2.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: points\nVersion: 1.2\n")
    (site / "points-1.2.dist-info" / "entry_points.txt").write_text("[rigconv.formats]\npoints = points_format\n")
    (site / "points_format.py").write_text(PLUGIN.format(id=format_id) if code is None else code)
    return site


def run(site: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rigconv", *map(str, words)]
    environment = {"PYTHONPATH": str(site), "PATH": ""}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=site)
