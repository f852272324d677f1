"""The guide's own snippets, compiled as they stand, make an op with everything that ops have."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import weir

ROOT = Path(__file__).resolve().parents[2]

# A build has the kernels of one instruction set.
ISA = weir._C.cpu_capability
FLAGS = {"baseline": [], "avx2": ["-march=x86-64-v3"], "avx512": ["-march=x86-64-v4"]}[ISA]
SOURCE = """
#include "framework/ops/arithmetic.h"
#include "framework/ops/unary.h"
namespace weir {{
{struct}
}}
#include "framework/kernels/formulas.h"
namespace weir::formulas {{
{formula}
}}
#include "framework/kernels/cpu/pointwise.h"
namespace weir::WEIR_ISA {{ static const PointwiseKernels<OpList<Softcap>> kernels; }}
namespace weir {{
using namespace fn;
{gradient}
static const Register<Softcap> op;
}}
"""

PROGRAM = """
import ctypes, math, sys
lib, plugin = sys.argv[1:]
ctypes.CDLL(lib + "/libweir.so", ctypes.RTLD_GLOBAL)
ctypes.CDLL(plugin, ctypes.RTLD_GLOBAL)   # its op joins the registry before the binding reads it
import weir as torch
x = torch.linspace(-3.0, 3.0, 37).requires_grad_()
y = torch.softcap(x, cap=2.0)
want = [2 * math.tanh(v / 2) for v in x.tolist()]
assert max(abs(a - b) for a, b in zip(y.tolist(), want)) < 1e-6
y.sum().backward()
slope = [1 - math.tanh(v / 2) ** 2 for v in x.tolist()]
assert max(abs(a - b) for a, b in zip(x.grad.tolist(), slope)) < 1e-6
z = x.detach().bfloat16()
assert z.softcap_().dtype is torch.bfloat16 and torch.softcap(x.detach()).shape == x.shape
assert any(op["name"] == "softcap" for op in torch.schema())
print("ok")
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    struct, gradient, formula = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs/add_an_op.md").read_text(), re.S)[:3]
    folder = tmp_path_factory.mktemp("op")
    (folder / "op.cpp").write_text(SOURCE.format(struct=struct, gradient=gradient, formula=formula))
    import _weir
    library = Path(_weir.__file__).parent / "weir_lib"
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-fPIC", "-shared", "-fopenmp", "-fno-math-errno", *FLAGS, f"-DWEIR_ISA={ISA}",
                    f"-I{ROOT}", "op.cpp", "-o", "op.so", f"-L{library}", "-lweir", f"-lweir_cpu_{ISA}", f"-Wl,-rpath,{library}", "-lmvec", "-lm"],
                   cwd=folder, check=True)
    return library, folder / "op.so"


def test_the_guides_op_computes_differentiates_and_writes_in_place(plugin):
    library, op = plugin
    path = [p for p in sys.path if p]
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(library), str(op)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": ":".join(path), "WEIR_CPU_CAPABILITY": ISA})
    assert done.stdout.strip() == "ok", done.stderr
