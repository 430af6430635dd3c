"""Inputs of the tests: addresses and keys of servers that the Rust test runs (crates/cli/tests/client/python.rs)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2]
"""Folder of the package under test."""
SCENARIOS = PACKAGE.parent / "scenarios"
"""Folder of the scenarios."""
REFERENCE = PACKAGE.parents[1] / "docs" / "reference"
"""Folder of the reference."""


def given() -> dict[str, Any]:
    """Returns servers by name: each has its `baseUrl`, its `host` (the same without /rpc), and `keys` by name.

    Scenarios have the names of their files, everything else is `server`.
    """
    text = os.environ.get("ALOFT_CLIENT_TESTS")
    if not text:
        raise RuntimeError("ALOFT_CLIENT_TESTS is not set: run `cargo test -p aloft --test client`")
    servers: dict[str, Any] = json.loads(text)
    return servers


def server() -> Any:
    """Returns the server of tests that are no scenarios."""
    return given()["server"]
