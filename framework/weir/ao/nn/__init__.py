"""Quantised layers: names only."""
