"""Settings beside `use_deterministic_algorithms`."""
fill_uninitialized_memory = True
