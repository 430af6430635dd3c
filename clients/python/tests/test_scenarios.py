"""Every scenario of clients/scenarios against the real server: every method of every service, and every code and reason
of an error. The Rust test runs them once for each client, each time with new workspaces."""

import json
import os
from datetime import datetime, timezone

import pytest
from support.given import SCENARIOS, given
from support.player import play
from support.site import site
from support.styles import Style

FILES = sorted(path.stem for path in SCENARIOS.glob("*.json"))


@pytest.mark.parametrize("name", FILES)
def test_scenario_passes(name: str) -> None:
    scenario = json.loads((SCENARIOS / f"{name}.json").read_text())
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    with site(200) as target, site(204) as receiver:
        names = {"target": target.url, "receiver": receiver.url, "now": now}
        assert play(Style(os.environ["ALOFT_CLIENT_STYLE"]), scenario, given()[name], names) > 0
