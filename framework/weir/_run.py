"""`weir-run graph.weir input.npz`: runs a saved graph on arrays from a file, and says how long it took and how much memory it has.

Arrays are the graph's arguments in order: `arr_0, arr_1, ...` as `numpy.savez(file, a, b)` names them, or in the order of the file.
"""

import argparse
import sys
import time

import numpy as np


def main(argv=None) -> int:
    """Returns 0, or 1 with a message where the graph or the input is not right."""
    parser = argparse.ArgumentParser(prog="weir-run", description=__doc__.split("\n")[0])
    parser.add_argument("graph", help="a file that nn.Graph.save wrote")
    parser.add_argument("input", help="an .npz file with the arguments")
    parser.add_argument("--output", help="write the results here, as .npz")
    parser.add_argument("--runs", type=int, default=10, help="how often to run it (default 10)")
    options = parser.parse_args(argv)
    import weir
    try:
        begin = time.perf_counter()
        model = weir._C._Model(options.graph)
        loaded = time.perf_counter() - begin
        with np.load(options.input, allow_pickle=False) as file:
            arguments = [weir.from_numpy(np.ascontiguousarray(file[name])) for name in file.files]
        seconds = []
        for _ in range(max(options.runs, 1)):
            begin = time.perf_counter()
            results = model.run(arguments)
            seconds.append(time.perf_counter() - begin)
    except (ValueError, OSError, RuntimeError) as error:
        print(f"weir-run: {error}", file=sys.stderr)
        return 1
    print(f"loaded in {loaded * 1e3:.1f} ms: {len(model.graph)} nodes, arena {model.arena_bytes / 2**20:.2f} MiB")
    print(f"ran {len(seconds)} times: best {min(seconds) * 1e3:.3f} ms, median {sorted(seconds)[len(seconds) // 2] * 1e3:.3f} ms")
    for i, t in enumerate(results):
        print(f"result {i}: {t.dtype} {tuple(t.shape)}")
    if options.output:
        np.savez(options.output, *(t.numpy() for t in results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
