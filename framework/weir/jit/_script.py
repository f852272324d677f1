"""Names under the module in which PyTorch keeps them."""
from . import RecursiveScriptModule, ScriptFunction, ScriptModule, script  # noqa: F401
