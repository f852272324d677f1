"""Classes of programs whose making is a step of a graph. Source: torch.fx.ProxyableClassMeta."""
from .proxy import find_proxy

_proxyable_classes: dict = {}


class ProxyableClassMeta(type):
    """The metaclass of such a class: made with a proxy among the arguments while a trace runs, an instance is a proxy too."""

    def __init__(cls, name, bases, attrs):
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args, **kwargs):
        from ._symbolic_trace import is_fx_tracing
        proxy = find_proxy((args, kwargs)) if is_fx_tracing() else None
        return super().__call__(*args, **kwargs) if proxy is None else proxy.tracer.create_proxy("call_function", cls, args, kwargs)
