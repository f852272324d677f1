"""The ways of running a model that can be compared: a framework module and how it is told to run."""

import importlib.util
from dataclasses import dataclass


@dataclass(frozen=True)
class Framework:
    """One competitor. `channels_last` concerns models whose layout matters; `compile` is torch.compile,
    `graph` a whole step as an nn.Graph. An `optional` one is skipped where its package is not installed."""

    label: str
    module: str
    channels_last: bool = False
    compile: bool = False
    graph: bool = False
    optional: bool = False

    @property
    def missing(self) -> str | None:
        """Returns why this one is skipped here, or None."""
        return f"{self.module} is not installed" if self.optional and not importlib.util.find_spec(self.module) else None

    @property
    def tuning(self) -> list[str]:
        """Returns the flags that set this one apart from the framework's defaults."""
        return ["channels_last"] * self.channels_last + ["compile"] * self.compile + ["graph"] * self.graph


FRAMEWORKS = {f.label: f for f in (
    Framework("weir", "weir", channels_last=True),
    Framework("weir-graph", "weir", channels_last=True, graph=True),
    Framework("torch-eager", "torch"),
    Framework("torch-channels_last", "torch", channels_last=True),
    Framework("torch-compile", "torch", channels_last=True, compile=True),
    Framework("jax", "jax", optional=True),
    Framework("tensorflow", "tensorflow", optional=True),
    # The same as torch-eager under another name: its ratio to torch-eager must cover 1.
    Framework("torch-control", "torch"),
)}
REFERENCE = "torch-eager"


def competes(framework: Framework, layout_matters: bool) -> bool:
    """Whether `framework` differs from the others for a model. Without a layout to choose, channels_last is eager."""
    return layout_matters or framework.label != "torch-channels_last"
