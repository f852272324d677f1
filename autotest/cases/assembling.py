"""What is put together: containers of modules and parameters, data sets and the orders of their loaders; as functions of a framework and a plan.

As in `recording`, a plan is constants only, and what a function returns is all that can be seen.
"""

CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
KEYED = ("ModuleDict", "ParameterDict")
ANY_STEPS = ("set", "delete", "get", "iterate", "contains", "pop", "reversed", "add", "dotted", "none", "find", "train", "double", "freeze", "call")
STEPS = (*ANY_STEPS, "append", "extend", "insert", "slice", "delete slice", "plus", "plus to", "times", "times to", "wrong")
KEYED_STEPS = (*ANY_STEPS, "clear", "update", "keys", "items", "values", "either", "get or", "default", "attribute", "from keys", "pop item", "copy")
DATA = ("tensors", "list", "map", "stream", "of x", "both", "some", "split", "parts", "stacked", "chain")
SAMPLERS = ("in order", "random", "shuffled", "few", "weighted", "batches", "given")
COLLATES = ("default", "listed", "counted")


def containers(W, x, kind="Sequential", parts=2, does=(("append", 0),)):
    """A container of `parts` parts, and what each step does with it, by what it then holds."""
    made = _container(W, x, kind, parts)
    seen = _contents(W, made)
    for step, number in does:
        answer = _step(W, x, made, kind, step, number)
        made = answer if type(answer) is type(made) else made
        seen += [step, *_said(W, answer), *_contents(W, made)]
    return seen


def loading(W, x, data="tensors", size=7, batch=2, shuffle=False, drop=False, sampler="none", seed=0, epochs=1, collate="default", numbers=(2, 3),
            own=True, replacement=False):
    """The batches of a few passes over a DataLoader, in order. The global generator is seeded, and left as it was: numbers mean something."""
    before = W.get_rng_state()
    try:
        W.manual_seed(seed)
        random = W.Generator().manual_seed(seed + 1) if own else None
        source = _data(W, x, data, size, numbers, random)
        chosen = _sampler(W, source, sampler, random, replacement, numbers)
        options = {"batch_sampler": chosen} if sampler == "batches" else {"batch_size": batch, "shuffle": shuffle, "drop_last": drop, "sampler": chosen}
        loader = W.utils.data.DataLoader(source, generator=random, collate_fn=_COLLATE[collate], **options)
        seen = [] if data in ("stream", "chain") else [len(loader)]
        for _ in range(epochs):
            seen.extend(loader)
        return [*seen, W.rand(2).sum()]  # it too has moved as it should
    finally:
        W.set_rng_state(before)


# Containers.

def _part(W, x, kind, number):
    if kind.startswith("Parameter"):
        values = x.detach().clone() + number
        return W.nn.Parameter(values) if values.is_floating_point() or values.is_complex() else values
    return (W.nn.Identity(), W.nn.PReLU(2), W.nn.ReLU(), W.nn.Sequential(W.nn.Tanh()), W.nn.BatchNorm1d(3))[number % 5]


def _container(W, x, kind, parts):
    made = [_part(W, x, kind, i) for i in range(parts)]
    if kind in KEYED:
        return getattr(W.nn, kind)({f"k{i}": part for i, part in enumerate(made)})
    return W.nn.Sequential(*made) if kind == "Sequential" else getattr(W.nn, kind)(made)


def _step(W, x, made, kind, step, number):
    """Any step of any container: one that this kind has not is an AttributeError or a TypeError."""
    part, others = _part(W, x, kind, number + 1), _container(W, x, kind, 2)
    key = f"k{number}" if kind in KEYED else number - 1
    return {"append": lambda: made.append(part), "extend": lambda: made.extend(others), "insert": lambda: made.insert(number, part),
            "set": lambda: made.__setitem__(key, part), "delete": lambda: made.__delitem__(key), "get": lambda: made[key], "slice": lambda: made[number:],
            "delete slice": lambda: made.__delitem__(slice(number, None)), "pop": lambda: made.pop(key), "clear": lambda: made.clear(),
            "update": lambda: made.update(others), "keys": lambda: list(made.keys()), "items": lambda: [k for k, _ in made.items()],
            "values": lambda: list(made.values()), "contains": lambda: key in made, "iterate": lambda: list(made), "reversed": lambda: list(reversed(made)),
            "plus": lambda: made + others, "plus to": lambda: made.__iadd__(others), "times": lambda: made * number, "times to": lambda: made.__imul__(number),
            "either": lambda: made | others, "get or": lambda: made.get("none", None), "default": lambda: made.setdefault("k9", part),
            "add": lambda: made.add_module(f"name{number}", part), "wrong": lambda: made.append(3), "dotted": lambda: made.add_module("a.b", part),
            "none": lambda: made.add_module("empty", None), "find": lambda: made.get_submodule("0"), "train": lambda: made.train(False),
            "double": lambda: made.double(), "freeze": lambda: made.requires_grad_(False), "call": lambda: made(x), "attribute": lambda: made.k0,
            "from keys": lambda: made.fromkeys(["a", "b"]), "pop item": lambda: made.popitem(), "copy": lambda: made.copy()}[step]()


def _contents(W, made) -> list:
    """Names and classes of all inside, what is kept of it, and how it is printed."""
    modules = [f"{name}:{type(m).__name__}" for name, m in made.named_modules()]
    parameters = [f"{name}:{tuple(p.shape)}:{p.requires_grad}" for name, p in made.named_parameters(remove_duplicate=False)]
    return [len(made), modules, parameters, list(made.state_dict()), repr(made)]


def _said(W, answer) -> list:
    if isinstance(answer, (list, tuple)):
        return [part for each in answer for part in _said(W, each)]
    return [type(answer).__name__] if isinstance(answer, W.nn.Module) else [answer]


# Data.

def _data(W, x, data, size, numbers, random):
    sets, own = W.utils.data, [random] if random else []
    rows = W.arange(size)

    class Map(sets.Dataset):
        def __len__(self):
            return size

        def __getitem__(self, i):
            return {"i": i, "row": rows[i], "pair": (float(i), str(i))}

    class Stream(sets.IterableDataset):
        def __iter__(self):
            return iter(range(size))

    plain = sets.TensorDataset(rows, rows * 2)
    made = {"tensors": lambda: plain, "list": lambda: list(range(size)), "map": Map, "stream": Stream, "of x": lambda: x.detach(),
            "both": lambda: sets.ConcatDataset([plain, sets.TensorDataset(rows, -rows)]), "some": lambda: sets.Subset(plain, list(numbers)),
            "split": lambda: sets.random_split(plain, list(numbers), *own)[0], "parts": lambda: sets.random_split(plain, [0.7, 0.3], *own)[-1],
            "stacked": lambda: sets.StackDataset(rows=plain, numbers=list(range(size))), "chain": lambda: sets.ChainDataset([Stream(), Stream()])}
    return made[data]()


def _sampler(W, source, sampler, random, replacement, numbers):
    kinds = W.utils.data
    made = {"none": lambda: None, "in order": lambda: kinds.SequentialSampler(source),
            "random": lambda: kinds.RandomSampler(source, replacement=replacement, num_samples=numbers[0], generator=random),
            "shuffled": lambda: kinds.RandomSampler(source, generator=random), "few": lambda: kinds.SubsetRandomSampler(list(numbers), generator=random),
            "weighted": lambda: kinds.WeightedRandomSampler([0.1, 0.4, 0.2, 0.3], numbers[0], replacement=replacement, generator=random),
            "batches": lambda: kinds.BatchSampler(kinds.SequentialSampler(source), numbers[0], True), "given": lambda: list(numbers)}
    return made[sampler]()


_COLLATE = dict(zip(COLLATES, (None, list, len)))
