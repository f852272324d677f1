"""The commands of `weir-autotest`, a file for each kind."""
