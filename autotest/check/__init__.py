"""When two answers count as equal, property by property."""
