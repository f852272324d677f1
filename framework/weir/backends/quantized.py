"""Engines of quantised kernels: none here."""
engine, supported_engines = "none", ["none"]
