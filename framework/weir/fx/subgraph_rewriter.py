"""Finds a pattern in a graph and puts another in its place. Source: torch.fx.subgraph_rewriter."""
import dataclasses
from typing import NamedTuple

from weir.nn import Module

from .graph import Graph
from .graph_module import GraphModule, _copy_attr, _get_attr
from .node import Node
from .tracer import symbolic_trace


class Match(NamedTuple):
    """Where a pattern was found: the pattern's last node, and the graph's node of each of the pattern's."""

    anchor: Node
    nodes_map: dict


@dataclasses.dataclass
class ReplacedPatterns:
    """A match, and the nodes that came in its place."""

    anchor: Node
    nodes_map: dict
    replacements: list


@dataclasses.dataclass
class InternalMatch:
    """A match as filters see it: also what stands for the pattern's placeholders and for what it returns."""

    anchors: list
    nodes_map: dict = dataclasses.field(default_factory=dict)
    placeholder_nodes: list = dataclasses.field(default_factory=list)
    returning_nodes: list = dataclasses.field(default_factory=list)
    name_node_map: dict = dataclasses.field(default_factory=dict)


def _graph_of(pattern):
    return pattern if isinstance(pattern, Graph) else pattern.graph if isinstance(pattern, GraphModule) else symbolic_trace(pattern).graph


class _Matcher:
    """Looks for one pattern; placeholders stand for anything, and with `ignore_literals` numbers for other numbers."""

    def __init__(self, pattern, ignore_literals, node_name_match):
        self.ignore_literals, self.node_name_match = ignore_literals, node_name_match
        self.placeholders = [n for n in pattern.nodes if n.op == "placeholder"]
        self.returning = pattern.output_node().all_input_nodes
        self.anchors = [n for n in self.returning if len(n.users) == 1]
        if any(n.op != "output" and not n.users and not n.is_impure() for n in pattern.nodes):
            raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")

    def _alike(self, p, n, by_name=False):
        if p.op == "placeholder" or by_name and self.node_name_match and self.node_name_match in n.name:
            return True
        if p.op != n.op:
            return False
        if p.op == "get_attr":  # of one kind; their numbers may differ
            return type(_get_attr(p.graph.owning_module, p.target)) is type(_get_attr(n.graph.owning_module, n.target))
        return p.target == n.target

    def _nodes(self, p, n, found, by_name=False):
        """Does node n, with what it uses, look like pattern node p? `found` gets what stands for what."""
        if p in found:
            return found[p] is n
        if n in found.values() or not self._alike(p, n, by_name):
            return False
        found[p] = n
        return p.op == "placeholder" or list(p.kwargs) == list(n.kwargs) and self._all(
            (*p.args, *p.kwargs.values()), (*n.args, *n.kwargs.values()), found)

    def _all(self, a, b, found):
        return len(a) == len(b) and all(self._arguments(x, y, found) for x, y in zip(a, b))

    def _arguments(self, a, b, found):
        if isinstance(a, Node) and isinstance(b, Node):
            return self._nodes(a, b, found)
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return self._all(a, b, found)
        if isinstance(a, Node) and a.op == "placeholder":
            return a not in found and found.setdefault(a, b) is b or found[a] == b or self.ignore_literals
        return self.ignore_literals or type(a) is type(b) and a == b

    def _anchored(self, graph, anchors, found):
        """What can stand for the pattern, found for one anchor after the other."""
        if not anchors:
            yield found
            return
        for node in graph.nodes:
            more = dict(found)
            if node.op != "output" and self._nodes(anchors[0], node, more, by_name=True):
                yield from self._anchored(graph, anchors[1:], more)

    def _may_go(self, found):
        """Is nothing within used elsewhere, but what the pattern returns, and does nothing without lie between?"""
        inner = {n for p, n in found.items() if p.op != "placeholder"}
        if any(set(n.users) - inner for p, n in found.items() if p.op != "placeholder" and p not in self.returning):
            return False
        after, waiting = set(), [u for n in inner for u in n.users if u not in inner]
        while waiting:
            node = waiting.pop()
            if node in inner:
                return False
            if node not in after:
                after.add(node)
                waiting += node.users
        return True

    def matches(self, graph):
        """All matches that do not overlap earlier ones."""
        taken: set = set()
        result = []
        for found in list(self._anchored(graph, self.anchors, {})) if self.anchors else []:
            inner = {n for p, n in found.items() if p.op != "placeholder"}
            if self._may_go(found) and not taken & inner:
                taken |= inner
                result.append(InternalMatch(self.anchors, found, [found[p] for p in self.placeholders], [found[p] for p in self.returning]))
        return result


def _insertion_point(graph, returning):
    """The first node that uses one of these, else the one behind the last of them."""
    users = {u for n in returning for u in n.users}
    if users:
        return next(n for n in graph.nodes if n in users)
    return next(n for n in reversed(graph.nodes) if n in returning).next


def _replace(gm, match, pattern, replacement, changed):
    """Puts a copy of the replacement in the match's place. Returns its nodes; `changed` says what stands for nodes that are gone."""
    inputs = [n for n in replacement.nodes if n.op == "placeholder"]
    if len(inputs) != len(match.placeholder_nodes):
        raise AssertionError(f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(inputs)}")

    def now(n):
        return changed.get(n, n) if isinstance(n, Node) else n
    match.nodes_map.update({p: now(n) for p, n in match.nodes_map.items() if p.op == "placeholder"})
    match.placeholder_nodes[:] = map(now, match.placeholder_nodes)
    val_map = dict(zip(inputs, match.placeholder_nodes))
    with gm.graph.inserting_before(_insertion_point(gm.graph, match.returning_nodes)):
        copied = gm.graph.graph_copy(replacement, val_map)
    copied = (copied,) if isinstance(copied, Node) else copied
    if len(copied) != len(match.returning_nodes):
        raise AssertionError(f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(copied)}")
    made = [n for n in val_map.values() if n not in match.placeholder_nodes]
    for old, new in zip(match.returning_nodes, copied):
        old.replace_all_uses_with(new)
        changed[old] = new
    for p in reversed(pattern.nodes):
        if p.op not in ("placeholder", "output"):
            gm.graph.erase_node(match.nodes_map[p])
    return made


def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None, ignore_literals=False, replacement_callback=None,
                                 node_name_match=""):
    """Replaces every occurrence of pattern (a function, module or graph) that all filters accept; gm's code is then anew.

    A filter is called with the match, the graph and the pattern's graph, and so is replacement_callback, which gives the graph to put in
    the match's place where there is no one replacement. Numbers of the pattern stand for any under ignore_literals, and a node whose name
    contains node_name_match for the pattern's last. Returns the ReplacedPatterns.

    A match whose inner values are used outside of it is left alone, as is one that overlaps an earlier one. AssertionError where pattern and
    replacement take or return different numbers of values.
    """
    pattern_graph = _graph_of(pattern)
    if replacement is None and replacement_callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    common = None if replacement is None else _graph_of(replacement)
    matches = [m for m in _Matcher(pattern_graph, ignore_literals, node_name_match).matches(gm.graph)
               if all(accepts(m, gm.graph, pattern_graph) for accepts in match_filters or ())]
    changed: dict = {}
    result = []
    for match in matches:
        graph = common if replacement_callback is None else replacement_callback(match, gm.graph, pattern_graph)
        result.append(ReplacedPatterns(match.anchors[0], match.nodes_map, _replace(gm, match, pattern_graph, graph, changed)))
    gm.recompile()
    if isinstance(replacement, Module):
        _bring_attributes(gm, replacement)
    return result


def _bring_attributes(gm, replacement):
    """Copies to gm the modules and parameters that its graph names, where it lacks them and the replacement has them."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            place = replacement
            for atom in node.target.split("."):
                place = getattr(place, atom, None)
            if place is not None:
                _copy_attr(replacement, gm, node.target)
    gm.graph.lint()


def replace_pattern(gm, pattern, replacement):
    """Replaces every occurrence of pattern (a function or module) in gm, whose code is then anew. Returns the matches."""
    return [Match(r.anchor, r.nodes_map) for r in replace_pattern_with_filters(gm, pattern, replacement)]
