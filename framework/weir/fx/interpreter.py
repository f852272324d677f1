"""Runs a graph node by node, so that subclasses may look at, or change, every step. Source: torch.fx.Interpreter."""
from .graph import Graph
from .graph_module import GraphModule
from .node import map_aggregate, map_arg, Node
from .proxy import Proxy
from .tracer import Tracer


class Interpreter:
    """Executes a GraphModule; override `call_function` and its kin, or `run_node`."""

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module, self.garbage_collect_values = module, garbage_collect_values
        self.graph = graph if graph is not None else module.graph
        self.submodules = dict(module.named_modules())
        self.env, self.name = {}, "Interpreter"
        last: dict = {}
        for node in reversed(self.graph.nodes):
            map_arg((node.args, node.kwargs), lambda n: last.setdefault(n, node))
        self.user_to_last_uses: dict = {}
        for used, user in last.items():
            self.user_to_last_uses.setdefault(user, []).append(used)

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """The graph's result for the inputs."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self.run_node(node)
            if self.garbage_collect_values:
                for done in self.user_to_last_uses.get(node, ()):
                    self.env.pop(done, None)
            if node.op == "output":
                return self.env[node]
        return None

    def run_node(self, n):
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    def get_attr(self, target, args, kwargs):
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target, args, kwargs):
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        return args[0]

    def fetch_attr(self, target):
        place = self.module
        for atom in target.split("."):
            if not hasattr(place, atom):
                raise RuntimeError(f"Node referenced nonexistent target {target}")
            place = getattr(place, atom)
        return place

    def fetch_args_kwargs_from_env(self, n):
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        def load(used):
            if used not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {used}! Run Graph.lint() to diagnose such issues")
            return self.env[used]
        return map_arg(args, load)


class Transformer(Interpreter):
    """An Interpreter whose steps make the nodes of a new graph; `transform()` gives the new module."""

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = Tracer()
        self.tracer.graph, self.tracer.root = self.new_graph, module

    def placeholder(self, target, args, kwargs):
        return Proxy(self.new_graph.placeholder(target, default_value=args[0] if args else ...), self.tracer)

    def get_attr(self, target, args, kwargs):
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target, args, kwargs):
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target, args, kwargs):
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def transform(self):
        result = super().run()
        if result is not None:
            self.new_graph.output(map_aggregate(result, lambda p: p.node if isinstance(p, Proxy) else p))
        return GraphModule(self.module, self.new_graph)
