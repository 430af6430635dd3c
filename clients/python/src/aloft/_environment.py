"""The only access to the environment."""

from __future__ import annotations

import os


def environment(name: str) -> str | None:
    """Returns an environment variable; None if it is missing or blank."""
    return os.environ.get(name, "").strip() or None
