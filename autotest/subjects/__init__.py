"""Adapters that let packages with another API be tested: see docs/new_subject.md."""
