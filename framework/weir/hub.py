"""Entry points of a folder with a `hubconf.py`. Only local folders: weir downloads nothing. Source: torch.hub."""
import importlib.util
import os
import re
import sys
from urllib.parse import urlparse  # noqa: F401  (libraries import it from here)

try:
    from tqdm.auto import tqdm
except ImportError:
    class tqdm:
        """A progress bar that shows nothing, where the tqdm package is not installed."""

        def __init__(self, iterable=None, total=None, disable=False, **options):
            self._iterable = iterable

        def __iter__(self):
            return iter(self._iterable)

        def update(self, n=1):
            """Nothing is shown."""

        def close(self):
            """Nothing is shown."""

        def __enter__(self):
            return self

        def __exit__(self, *exc):
            return None

_hub_dir = None
DEFAULT_CACHE_DIR, ENV_TORCH_HOME, ENV_XDG_CACHE_HOME = "~/.cache", "TORCH_HOME", "XDG_CACHE_HOME"
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")


def get_dir():
    """The folder of downloads: set_dir's, else under $TORCH_HOME."""
    if _hub_dir is not None:
        return _hub_dir
    cache = os.environ.get(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR)
    return os.path.join(os.path.expanduser(os.environ.get(ENV_TORCH_HOME, os.path.join(cache, "torch"))), "hub")


def set_dir(d):
    global _hub_dir
    _hub_dir = os.path.expanduser(d)


def _get_torch_home():
    return os.path.dirname(get_dir())


def _module(repo_or_dir, source, name="hub"):
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise NotImplementedError(f"{name}: weir downloads nothing; get the repository and use source='local'")
    path = os.path.join(os.path.expanduser(repo_or_dir), "hubconf.py")
    if not os.path.exists(path):
        raise FileNotFoundError(f"[Errno 2] No such file or directory: {path!r}")
    sys.path.insert(0, repo_or_dir)
    try:
        spec = importlib.util.spec_from_file_location("hubconf", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(repo_or_dir)
    missing = [d for d in getattr(module, "dependencies", ()) if importlib.util.find_spec(d) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module, model):
    function = getattr(module, model, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return function


def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True, *, source="github"):
    """The names of a folder's entry points. `source="local"` is what weir has; see `load`."""
    module = _module(github, source if not os.path.isdir(github) else "local", "hub.list")
    return [n for n in dir(module) if callable(getattr(module, n)) and not n.startswith("_")]


def help(github, model, force_reload=False, skip_validation=False, trust_repo=None, *, source="github"):
    """The docstring of an entry point."""
    return _entry(_module(github, source if not os.path.isdir(github) else "local", "hub.help"), model).__doc__


def load(repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True, skip_validation=False,
         **kwargs):
    """model(*args, **kwargs) of the folder's hubconf. NotImplementedError for source="github"."""
    return _entry(_module(repo_or_dir, source.lower(), "hub.load"), model)(*args, **kwargs)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Downloads a file. FileExistsError-free: dst is replaced. RuntimeError when its SHA-256 does not begin with hash_prefix."""
    import hashlib
    import shutil
    import tempfile
    import urllib.request
    digest = hashlib.sha256()
    with urllib.request.urlopen(url) as source, tempfile.NamedTemporaryFile(
            dir=os.path.dirname(os.path.abspath(dst)), delete=False) as part:
        for block in iter(lambda: source.read(1 << 16), b""):
            digest.update(block)
            part.write(block)
    if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
        os.remove(part.name)
        raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
    shutil.move(part.name, dst)


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None,
                             weights_only=False):
    """What the file at url holds, kept in model_dir so that it is downloaded once."""
    import weir
    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(url.split("?")[0])
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        match = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, match[1] if match else None, progress)
    return weir.load(path, map_location=map_location)
