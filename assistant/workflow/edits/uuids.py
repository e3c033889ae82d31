"""Ids of subgraphs and their slots, made of what they are for: the same edit gives the same ids."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any


def content_uuid(*parts: Any) -> str:
    """A UUID of version 4's form that stands for these JSON values."""
    text = json.dumps(parts, sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))
