"""weir.compat(): which of PyTorch's public names are here, as the harness finds out in processes of its own."""
import json
import subprocess
import sys


def compat(json_output=False):
    """Prints, and returns as data, module -> name -> "same", "partial: why", "named: why" (using it raises) or "absent".

    Needs the harness (`weir_autotest`) and PyTorch installed: RuntimeError when they are not. Neither is loaded here.
    """
    done = subprocess.run([sys.executable, "-m", "weir_autotest", "compat", "--json"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("compat: weir-autotest compat failed; it needs weir_autotest and PyTorch installed:\n"
                           + (done.stderr or done.stdout)[-2000:])
    answers = json.loads(done.stdout.splitlines()[-1])
    if json_output:
        print(json.dumps(answers, indent=1))
    else:
        for path, names in answers.items():
            kinds = [a.partition(":")[0] for a in names.values()]
            print(f"{path:28} " + " ".join(f"{kinds.count(k):4} {k}" for k in ("same", "partial", "named", "absent")))
    return answers
