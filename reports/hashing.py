"""Canonical JSON and its digest: the one way that records, cases, plans and machines get their names."""

import hashlib
import json


def canonical_json(value) -> str:
    """JSON with sorted keys and no spaces. Raises ValueError for NaN and infinities: write null and a reason."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value) -> str:
    """Returns the SHA-256 of `canonical_json(value)` as 64 hex digits."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
