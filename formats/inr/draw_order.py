"""Draw order out of ``zsort``, and ``zsort`` out of draw order (specs/seed-inr.txt §2, specs/inr-facts.md §4).

``zsort`` adds up along ancestors; what has more is further back and drawn first, equals in the order of the nodes.
A composite is drawn in its own place, and in it all that is below it, sorted by itself; composites inside composites
are transparent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def accumulated(zsort: Sequence[float], parent: Sequence[int]) -> list[float]:
    """The sum of ``zsort`` over each node and its ancestors; parents come first."""
    total: list[float] = []
    for own, above in zip(zsort, parent, strict=True):
        total.append(own if above < 0 else own + total[above])
    return total


def draw_order(zsort: Sequence[float], parent: Sequence[int], composite: Sequence[bool]) -> list[int]:
    """Node indices, furthest back first; a composite stands right before what is drawn into it.

    Args:
        zsort: Own ``zsort`` of each node.
        parent: Index of each node's parent, -1 for a root; parents come first.
        composite: Which nodes are composites.
    """
    depth = accumulated(zsort, parent)
    group = _groups(parent, composite)
    order: list[int] = []
    tops = [index for index in range(len(depth)) if group[index] < 0]
    members: dict[int, list[int]] = {}
    for index, top in enumerate(group):
        if top >= 0:
            members.setdefault(top, []).append(index)
    for index in _sorted(tops, depth):
        order.append(index)
        order.extend(_sorted(members.get(index, []), depth))
    return order


def _groups(parent: Sequence[int], composite: Sequence[bool]) -> list[int]:
    """The outermost composite above each node, -1 for none."""
    group: list[int] = []
    for above in parent:
        if above < 0:
            group.append(-1)
        else:
            group.append(group[above] if group[above] >= 0 else above if composite[above] else -1)
    return group


def _sorted(indices: list[int], depth: Sequence[float]) -> list[int]:
    return sorted(indices, key=lambda index: -depth[index])


def zsort_for(order: Sequence[int], parent: Sequence[int]) -> list[float]:
    """Own ``zsort`` of each node so that the nodes in ``order`` are drawn in that order.

    Args:
        order: Indices of the nodes that are drawn, furthest back first.
        parent: Index of each node's parent, -1 for a root; parents come first.
    """
    wanted = np.zeros(len(parent))
    wanted[list(order)] = np.arange(len(order), 0, -1)
    above = np.array(parent)
    return list((wanted - np.where(above >= 0, wanted[above], 0.0)).tolist())
