"""Expectations of scenarios (clients/scenarios/README.md): compares a value with a pattern and describes the
differences. player.py plays scenarios."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

Names = Mapping[str, str]


class _Absent:
    """The value of a field that is not there. It is not None, which is JSON's null."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT: Final = _Absent()


def differences(value: Any, pattern: Any, path: str = "it") -> list[str]:
    """Returns the differences of `value` from `pattern`; `path` is its position."""
    if isinstance(pattern, list):
        return _list_differences(value, pattern, path)
    if not isinstance(pattern, dict):
        return [] if _equal(value, pattern) else [f"{path} is {_shown(value)}, not {_shown(pattern)}"]
    if any(name.startswith("$") for name in pattern):
        return [it for name, wanted in pattern.items() for it in _known(name)(value, wanted, path)]
    if not isinstance(value, dict):
        return [f"{path} is no object: {_shown(value)}"]
    return [
        it
        for name, wanted in pattern.items()
        for it in differences(value.get(name, ABSENT), wanted, f"{path}.{name}")
    ]


def filled(value: Any, names: Names) -> Any:
    """Returns `value` with `${name}` replaced in all its texts, and `$repeat` expanded."""
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", lambda found: _named(found[1], names), value)
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    if "$repeat" in value:
        text, times = value["$repeat"]
        return text * times
    return {name: filled(inner, names) for name, inner in value.items()}


def at(value: Any, path: str) -> Any:
    """Returns the value at a path such as `logs.0.id`."""
    found = value
    for name in path.split("."):
        if isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict) and name in found:
            found = found[name]
        else:
            raise LookupError(f"there is no {path} in {_shown(value)}")
    return found


def _named(name: str, names: Names) -> str:
    if name not in names:
        raise LookupError(f"nothing is called ${{{name}}} here")
    return names[name]


def _equal(value: Any, pattern: Any) -> bool:
    """Compares as JSON does: True is not 1."""
    if isinstance(value, bool) or isinstance(pattern, bool):
        return value is pattern
    if isinstance(value, _Absent):
        return False
    return bool(value == pattern)


def _list_differences(value: Any, pattern: list[Any], path: str) -> list[str]:
    if not isinstance(value, list):
        return [f"{path} is no list: {_shown(value)}"]
    if len(value) != len(pattern):
        return [f"{path} has {len(value)} items, not {len(pattern)}: {_shown(value)}"]
    pairs = enumerate(zip(value, pattern, strict=True))
    return [it for index, (one, wanted) in pairs for it in differences(one, wanted, f"{path}[{index}]")]


def _matches(value: Any, text: Any, path: str) -> list[str]:
    found = isinstance(value, str) and re.search(text, value) is not None
    return [] if found else [f"{path} does not match {text}: {_shown(value)}"]


def _type(value: Any, kind: Any, path: str) -> list[str]:
    return [] if _type_of(value) == kind else [f"{path} is no {kind}: {_shown(value)}"]


def _length(value: Any, length: Any, path: str) -> list[str]:
    fits = isinstance(value, (list, str)) and len(value) == length
    return [] if fits else [f"{path} has not the length {length}: {_shown(value)}"]


def _has(value: Any, item: Any, path: str) -> list[str]:
    found = isinstance(value, list) and any(not differences(one, item) for one in value)
    return [] if found else [f"{path} has no {_shown(item)}: {_shown(value)}"]


def _set(value: Any, items: Any, path: str) -> list[str]:
    same = isinstance(value, list) and sorted(map(_shown, value)) == sorted(map(_shown, items))
    return [] if same else [f"{path} is not the set {_shown(items)}: {_shown(value)}"]


def _absent(value: Any, _: Any, path: str) -> list[str]:
    return [] if value is ABSENT else [f"{path} is there: {_shown(value)}"]


_PATTERNS: Final[Mapping[str, Callable[[Any, Any, str], list[str]]]] = {
    "$matches": _matches,
    "$type": _type,
    "$length": _length,
    "$has": _has,
    "$set": _set,
    "$absent": _absent,
}


def _known(name: str) -> Callable[[Any, Any, str], list[str]]:
    if name not in _PATTERNS:
        raise LookupError(f"there is no pattern {name}")
    return _PATTERNS[name]


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), ((int, float), "number"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "absent"


def _shown(value: Any) -> str:
    return repr(value) if value is ABSENT else json.dumps(value, sort_keys=True)
