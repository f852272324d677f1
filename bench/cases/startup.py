"""What a script pays before its first line: a fresh interpreter that imports the framework."""

from ..case import case

CASES = [case("startup", "import", "fresh interpreter", [], [], mode="import", traffic=0)]
