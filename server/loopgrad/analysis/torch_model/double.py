"""The graphs of gradients: what a backward under ``create_graph`` records, node by node."""

from __future__ import annotations

from typing import Any

from ..tape import ALWAYS, NEVER, Node, children_first
from ..where import Site

#: Operations that choose: their gradient does not hang on the values that they save.
SELECTING = frozenset(
    "clamp clamp_min clamp_max clip max min amax amin maximum minimum sort median nanmedian mode topk kthvalue "
    "cummax cummin".split()
)
#: Losses whose gradient hangs on their input, through what they compute inside.
FUSED = frozenset("cross_entropy CrossEntropyLoss l1_loss L1Loss poisson_nll_loss PoissonNLLLoss".split())
#: Products: the gradient of one factor hangs on the other.
PRODUCTS = frozenset(
    "mul multiply matmul mm bmm mv dot vdot inner outer ger linear addmm addmv baddbmm addr bilinear "
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d".split()
)
#: Operations whose result stays as it is where their input changes a little: the gradient is zero.
FLAT = frozenset("zero fill sign sgn round floor ceil trunc heaviside".split())
#: Gradients that are themselves products, of the gradient that came and the other factor; and sums of gradients.
PRODUCT, SUM = "grad_product", "grad_sum"


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
        return self.rt.record(SUM, tuple(found), NEVER, self.site, (), False, max(n.guess for n in found))

    def _through(self, node: Node, here: Node | None) -> None:
        """Hand the gradient on to what a node was computed from."""
        if node.op.strip("_") in FLAT:
            return
        product = node.op == PRODUCT or node.op.strip("_") in PRODUCTS
        sources = _sources(node)
        made: dict[tuple, Node] = {}
        for child in node.inputs:
            edges = list(sources)
            if product and child in edges:
                edges.remove(child)
            elif product:
                edges = []  # what is not saved itself is added: a bias
            if here is not None:
                edges.append(here)
            if not edges:
                continue
            key = tuple(sorted({id(edge) for edge in edges}))
            if key == (id(here),):
                made[key] = edges[0]
            elif key not in made:
                guess = max(edge.guess for edge in edges)
                if node.op == "unknown" or node.op == "grad" and here is None:
                    guess = max(guess, 1)  # a third derivative may be a constant
                parts = tuple({id(edge): edge for edge in edges}.values())
                op = PRODUCT if product else "grad"
                # A product saves a factor for the gradient of the other one: of a gradient without a graph none is asked for.
                needed = here is not None or not product or node.op.startswith("conv")
                saved = node.saved if needed else ()
                made[key] = self.rt.record(op, parts, ALWAYS, self.site, saved, False, guess)
            self._flow.setdefault(id(child), []).append(made[key])


def _sources(node: Node) -> list[Node]:
    """What requires grad among the values that a node's gradient hangs on."""
    if node.op in SELECTING:
        return []
    if node.op == PRODUCT:
        return list(node.inputs)
    saved = [source for _, _, source, _ in node.saved if source is not None]
    return [*saved, *(node.inputs if node.op in FUSED or node.op == "unknown" else ())]
