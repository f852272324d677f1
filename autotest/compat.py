"""Which public names of PyTorch the subject has: the same with the same parameters and, of classes, the same among them that `isinstance` knows
them as; partial, named only, or absent.

    weir-autotest compat [--json] [--subject weir]

The oracle's names come from its modules' `__all__` and from torch.overrides, gathered in a process of its own; the
subject answers in another one. So no process holds both frameworks.
"""

import json
import subprocess
import sys

MODULES = """torch torch.Tensor torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.optim
    torch.optim.lr_scheduler torch.optim.swa_utils torch.linalg torch.special torch.fft torch.autograd torch.autograd.functional
    torch.autograd.graph torch.utils.data torch.utils.checkpoint torch.cuda torch.cuda.amp torch.amp torch.distributions torch.func torch.fx torch.jit torch.hub
    torch.library torch.overrides torch.testing torch.profiler torch.futures torch.compiler torch.multiprocessing torch.nn.attention
    torch.nn.parallel torch.backends.cudnn torch.backends.cuda torch.backends.mkldnn torch.sparse torch.signal.windows torch.masked
    torch.distributed torch.onnx torch.export torch.accelerator torch.cpu torch.quasirandom torch.nested
    torch.Generator torch.Size torch.device torch.dtype torch.UntypedStorage torch.TypedStorage torch.nn.Module torch.nn.Sequential
    torch.nn.ModuleList torch.nn.ModuleDict torch.nn.ParameterList torch.nn.ParameterDict torch.optim.Optimizer torch.optim.lr_scheduler.LRScheduler
    torch.amp.GradScaler torch.utils.data.DataLoader torch.distributions.Distribution""".split()

KINDS = ("same", "partial", "named", "absent")

#: Runs in the oracle's process: module -> name -> parameters, or None for what has no signature.
_ASK_ORACLE = r"""
import importlib, inspect, json, re, sys, warnings
warnings.simplefilter("ignore")
import torch
import torch.overrides
dummies = torch.overrides.get_testing_overrides()

def schema_names(name):
    # The parameters of a native function in all of its overloads; empty where it is none.
    for prefix in ("", "special_", "linalg_", "fft_"):
        found = torch._C._jit_get_schemas_for_operator("aten::" + prefix + name)
        if found:
            return {a.name for s in found for a in s.arguments}
    return set()

def documented(name, value):
    # The parameters that the first line of a native function's documentation gives, or None.
    match = re.match(r"\s*(?:[\w.]*\.)?" + re.escape(name) + r"\((.*?)\)\s*->", value.__doc__ or "", re.S)
    if match is None or inspect.isfunction(value):
        return None
    parts = re.split(r",(?![^(\[]*[)\]])", match[1])
    words = [p.split("=")[0].split(":")[0].strip() for p in parts]
    return [w for w in words if re.fullmatch(r"[A-Za-z_]\w*", w)]

found, classes = {}, {}
for path in sys.argv[1:]:
    parent, _, last = path.rpartition(".")
    module = getattr(importlib.import_module(parent), last, None) if parent else None
    if inspect.isclass(module):
        names = [n for n in dir(module) if not n.startswith("_")]
    else:
        try:
            module = importlib.import_module(path)
        except ImportError:
            continue
        names = getattr(module, "__all__", None)
        if names is None:
            names = [n for n in dir(module) if not n.startswith("_") and not inspect.ismodule(getattr(module, n))
                     and str(getattr(getattr(module, n), "__module__", "")).startswith("torch")]
    entry = {}
    for name in names:
        value = getattr(module, name, None)
        if value is None:
            entry[name] = None
            continue
        if callable(value) and not inspect.isclass(value) and documented(name, value) is not None:
            entry[name] = documented(name, value)
            continue
        if inspect.isclass(value):
            target = value.__init__ if "__init__" in vars(value) else None
        else:
            target = value
            try:
                if not inspect.isfunction(value) or value.__module__ in ("torch._jit_internal",):
                    target = dummies.get(value, value)
            except TypeError:  # unhashable
                pass
        try:
            entry[name] = [p.name for p in inspect.signature(target).parameters.values()
                           if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)] if callable(target) else None
        except (ValueError, TypeError):
            entry[name] = None
    for name, words in entry.items():
        # What a native function's text or stand-in calls its parameters is not always what it takes them as.
        if words and not inspect.isfunction(getattr(module, name)) and not inspect.isclass(getattr(module, name)):
            known = schema_names(name)
            entry[name] = [w for w in words if w in known] if known else words
    found[path] = entry
    for name in names:
        value = getattr(module, name, None)
        if inspect.isclass(value) and value not in classes and value.__module__.startswith("torch"):
            classes[value] = path, name
kinds = {".".join(at): [list(other) for value2, other in classes.items() if value2 is not value and issubclass(value, value2)] for value, at in classes.items()}
print(json.dumps({"version": torch.__version__, "modules": found, "kinds": kinds, "classes": list(classes.values())}))
"""

#: Runs in the subject's process: reads the oracle's answer, says of each name "same", "partial: ...", "named: ..." (it is there,
#: and raises NotImplementedError when used) or "absent".
_ASK_SUBJECT = r"""
import importlib, inspect, json, sys
subject = importlib.import_module(sys.argv[1])

def takes(value, word):
    # Does a function without a signature take the keyword? Its parser is asked: it refuses what it does not know in every overload.
    try:
        value(**{word: object()})
    except Exception as error:
        overloads = [line for line in str(error).splitlines() if line.lstrip().startswith("*")] or [str(error)]
        return not all(f"unexpected keyword argument '{word}'" in line for line in overloads)
    return True

def lacking(value, wanted):
    target = value.__init__ if inspect.isclass(value) and "__init__" in vars(value) else value
    try:
        ps = list(inspect.signature(target).parameters.values())
    except (ValueError, TypeError):
        return [w for w in wanted if not takes(value, w)] if not inspect.isclass(value) else []
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in ps):
        return []
    return [w for w in wanted if w not in {p.name for p in ps}]

def module_at(path):
    # The module, or class, under PyTorch's name; None where there is none.
    where = path.replace("torch", sys.argv[1], 1)
    try:
        return importlib.import_module(where)
    except ImportError:
        parent, _, last = where.rpartition(".")
        return getattr(importlib.import_module(parent), last, None)

def resolve(path, name):
    # The class under PyTorch's name; None where there is none, or only its name.
    try:
        value = getattr(module_at(path), name, None)
    except (ImportError, NotImplementedError):
        return None
    return value if inspect.isclass(value) and not vars(value).get("__weir_missing__") else None

given = json.loads(sys.stdin.read())
result = {}
classes = {(path, name): found for path, name in given.get("classes", []) if (found := resolve(path, name)) is not None}

def misplaced(path, name):
    # What isinstance would say of it, and does not say in PyTorch, or the other way round.
    value, wanted = classes.get((path, name)), {tuple(at) for at in given.get("kinds", {}).get(path + "." + name, [])}
    if value is None:
        return []
    told = [(at, issubclass(value, other)) for at, other in classes.items() if other is not value]
    return [("is a " if is_one else "is no ") + at[1] for at, is_one in told if is_one != (at in wanted)]

for path, names in given["modules"].items():
    module = module_at(path)
    answers = {}
    for name, wanted in names.items():
        if module is None:
            answers[name] = "absent: no such module"
            continue
        try:
            value = getattr(module, name)
        except AttributeError:
            answers[name] = "absent"
            continue
        except Exception as error:  # a property asked on the class
            answers[name] = f"partial: {type(error).__name__}"
            continue
        why = vars(value).get("__weir_missing__") if inspect.isclass(value) else None
        if why:
            answers[name] = "named: " + why
            continue
        less = [] if wanted is None or not callable(value) else lacking(value, [w for w in wanted if w not in ("self", "out", "cls", "mod", "args", "kwargs") and not w.startswith("_")])
        faults = ["lacks " + ", ".join(less)] * bool(less) + misplaced(path, name)
        answers[name] = "same" if not faults else "partial: " + "; ".join(faults)
    result[path] = answers
print(json.dumps(result))
"""


def names_of_oracle() -> dict:
    """{"version": ..., "modules": {module: {name: parameters or None}}} of the PyTorch that is installed."""
    done = subprocess.run([sys.executable, "-c", _ASK_ORACLE, *MODULES], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def compare(subject: str = "weir", oracle: dict | None = None) -> dict:
    """module -> name -> "same", "partial: why", "named: why" or "absent"."""
    oracle = names_of_oracle() if oracle is None else oracle
    done = subprocess.run([sys.executable, "-c", _ASK_SUBJECT, subject], input=json.dumps(oracle), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"compat: {subject} could not answer:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def summary(answers: dict) -> dict:
    """{"same": n, "partial": n, "named": n, "absent": n} over all modules; a name counts once per module."""
    kinds = [a.partition(":")[0] for names in answers.values() for a in names.values()]
    return {kind: kinds.count(kind) for kind in KINDS}


def _counted(path: str, counts: dict) -> str:
    return f"{path:28} " + " ".join(f"{counts[kind]:4} {kind}" for kind in KINDS)


def show(answers: dict) -> str:
    """The answers as text: a line per module, then what is not the same."""
    lines = []
    for path, names in answers.items():
        lines.append(_counted(path, summary({path: names})))
    total = summary(answers)
    every = max(1, sum(total.values()))
    lines.append(_counted("all", total) + f" ({total['same'] / every:.1%} same, {1 - total['absent'] / every:.1%} present)")
    for path, names in answers.items():
        rest = {n: a for n, a in names.items() if a != "same"}
        if rest:
            lines.append(f"\n{path}")
            lines += [f"  {n}: {a}" for n, a in sorted(rest.items())]
    return "\n".join(lines)
