"""Training throughput of whole models over several frameworks, compared fairly.

A plan is frozen before results exist; every framework trains the same model text from the same weights on the same
batches; a framework is ranked only if its losses and gradient norms follow the reference. Runs are records, and
every figure is computed from them by `weir_reports.dlperf_figures`. Importing this package loads no framework.
"""
