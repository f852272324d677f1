"""Op benchmarks: two frameworks timed in lockstep, with correctness checked first.

`cases` is the list of what is timed, as data. `lockstep` drives one worker process per framework and a calibration
worker through alternating rounds. Every figure is computed from the raw record by `weir_reports.bench_figures`.
Importing this package loads no framework.
"""
