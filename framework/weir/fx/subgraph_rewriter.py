"""Finds a pattern in a graph and puts another in its place. Source: torch.fx.subgraph_rewriter."""
from typing import NamedTuple

from .graph import Graph
from .node import Node
from .tracer import symbolic_trace


class Match(NamedTuple):
    """Where a pattern was found."""

    anchor: Node
    nodes_map: dict


def _graph_of(pattern):
    return pattern if isinstance(pattern, Graph) else pattern.graph if hasattr(pattern, "graph") else symbolic_trace(pattern).graph


def _matches(p, n, found):
    """Does node n, with what it uses, look like pattern node p? Placeholders stand for anything."""
    if p in found:
        return found[p] is n
    if not isinstance(p, Node) or not isinstance(n, Node):
        return p == n
    if p.op == "placeholder":
        found[p] = n
        return True
    if p.op != n.op or p.target != n.target:
        return False
    found[p] = n
    return _arguments(p.args, n.args, found) and _arguments(p.kwargs, n.kwargs, found)


def _arguments(a, b, found):
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(_arguments(x, y, found) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_arguments(a[k], b[k], found) for k in a)
    if isinstance(a, Node) and a.op == "placeholder" and not isinstance(b, Node):
        return found.setdefault(a, b) is b
    return _matches(a, b, found) if isinstance(a, Node) else a == b and not isinstance(b, Node)


def replace_pattern(gm, pattern, replacement):
    """Replaces every occurrence of pattern (a function or module) in gm, whose code is then anew. Returns the matches.

    A match whose inner values are used outside of it is left alone, as is one that overlaps an earlier one.
    """
    pattern_graph, new_graph = _graph_of(pattern), _graph_of(replacement)
    result = pattern_graph.output_node().args[0]
    inputs = [n for n in pattern_graph.nodes if n.op == "placeholder"]
    matches, taken = [], set()
    for node in list(gm.graph.nodes):
        found: dict = {}
        if node._erased or node.op in ("placeholder", "output") or not _matches(result, node, found):
            continue
        inner = [n for p, n in found.items() if p.op != "placeholder"]
        if taken & set(inner) or any(set(n.users) - set(inner) for n in inner if n is not node):
            continue
        val_map = {p: found[q] for p, q in zip([n for n in new_graph.nodes if n.op == "placeholder"], inputs)}
        with gm.graph.inserting_before(node):
            copied = gm.graph.graph_copy(new_graph, val_map)
        node.replace_all_uses_with(copied)
        for n in reversed(list(gm.graph.nodes)):
            if n in inner:
                gm.graph.erase_node(n)
        taken |= set(inner)
        matches.append(Match(node, found))
    gm.recompile()
    return matches
