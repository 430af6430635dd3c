"""The patterns of scenarios: each matches exactly what it should, because scenarios would otherwise prove nothing."""

import json

import pytest
from support.given import SCENARIOS
from support.patterns import at, differences, filled

TABLE = json.loads((SCENARIOS / "schema" / "patterns.json").read_text())


@pytest.mark.parametrize("row", TABLE, ids=json.dumps)
def test_each_pattern_matches_exactly_what_it_should(row: dict[str, object]) -> None:
    assert (not differences(row["value"], row["pattern"])) == row["holds"]


def test_unknown_pattern_fails() -> None:
    with pytest.raises(LookupError, match=r"no pattern \$like"):
        differences("a", {"$like": "a"})


def test_names_are_replaced_everywhere_and_unknown_fail() -> None:
    names = {"monitor": "mon_1", "target": "http://127.0.0.1:1"}
    value = {"id": "${monitor}", "url": ["${target}/a"], "size": 3, "name": {"$repeat": ["n", 3]}}
    expected = {"id": "mon_1", "url": ["http://127.0.0.1:1/a"], "size": 3, "name": "nnn"}
    assert filled(value, names) == expected
    with pytest.raises(LookupError, match=r"\$\{page\}"):
        filled("${page}", names)


def test_values_are_found_by_path() -> None:
    assert at({"logs": [{"id": "log_1"}]}, "logs.0.id") == "log_1"
    with pytest.raises(LookupError, match=r"logs\.0\.id"):
        at({"logs": []}, "logs.0.id")


def test_true_is_not_one() -> None:
    assert differences(True, 1) and differences(1, True) and not differences(1, 1.0)
