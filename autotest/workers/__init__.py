"""The processes that hold a framework, and what they run."""
