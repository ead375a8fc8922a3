"""The graphs of gradients: what a backward under ``create_graph`` records, node by node."""

from __future__ import annotations

from typing import Any

from ..tape import ALWAYS, Node, children_first
from ..where import Site

#: Operations that choose: their gradient does not hang on the values that they save.
SELECTING = frozenset(
    "clamp clamp_min clamp_max clip max min amax amin maximum minimum sort median nanmedian mode topk kthvalue "
    "cummax cummin".split()
)
#: Losses whose gradient hangs on their input, through what they compute inside.
FUSED = frozenset({"cross_entropy", "l1_loss"})
#: Products: the gradient of one factor hangs on the other.
PRODUCTS = frozenset(
    "mul multiply matmul mm bmm mv dot vdot inner outer ger linear addmm addmv baddbmm addr bilinear "
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d".split()
)


class Gradients:
    """The graphs of the gradients of one backward: of each node that it came to, and of each leaf."""

    def __init__(
        self, rt: Any, roots: list[Node], executed: set[int], site: Site, start: list[Node] | None = None
    ) -> None:
        self.rt, self.site = rt, site
        self._flow: dict[int, list[Node]] = {}
        #: The graph of the gradient of a node's result; None where it hangs on nothing that requires grad.
        self.of: dict[int, Node | None] = {}
        for root in roots:
            self._flow.setdefault(id(root), []).extend(start or ())
        for node in reversed(children_first(roots)):
            here = self.of[id(node)] = self._together(self._flow.pop(id(node), []))
            if node.leaf is None and id(node) in executed:
                self._through(node, here)

    def _together(self, parts: list[Node]) -> Node | None:
        """The sum of what came to a node on several ways."""
        found = list({id(part): part for part in parts}.values())
        if len(found) < 2:
            return found[0] if found else None
        return self.rt.record("grad", tuple(found), ALWAYS, self.site, (), False, max(n.guess for n in found))

    def _through(self, node: Node, here: Node | None) -> None:
        """Hand the gradient on to what a node was computed from."""
        sources = [] if node.op in SELECTING else [s for _, _, s, _ in node.saved if s is not None]
        sources += node.inputs if node.op in FUSED or node.op == "unknown" else ()
        made: dict[tuple, Node] = {}
        for child in node.inputs:
            edges = list(sources)
            if node.op.strip("_") in PRODUCTS:
                # What is not saved itself is added: a bias.
                if child in edges:
                    edges.remove(child)
                else:
                    edges = []
            if here is not None:
                edges.append(here)
            if not edges:
                continue
            key = tuple(sorted({id(edge) for edge in edges}))
            if key == (id(here),):
                made[key] = edges[0]
            elif key not in made:
                guess = max([edge.guess for edge in edges] + [int(node.op == "unknown")])
                parts = tuple({id(edge): edge for edge in edges}.values())
                made[key] = self.rt.record("grad", parts, ALWAYS, self.site, node.saved, False, guess)
            self._flow.setdefault(id(child), []).append(made[key])
