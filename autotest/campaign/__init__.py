"""Generated calls as the source: run, score, shrink, replay, and faults planted in the harness itself."""
