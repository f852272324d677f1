"""Elastic jobs: names only."""
