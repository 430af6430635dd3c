"""The package as published: built, checked with PyPI's own checks, installed without a network in an empty project, and
type-checked there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from support.given import PACKAGE, server

SOURCES = PACKAGE / "tests" / "package"
WHEELS = Path(sys.prefix) / "wheels"
"""The packages of the lock file, which `cargo xtask setup` keeps."""


def run(*command: str | Path, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end; a failure has all of its output."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env={**kept, **variables}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the built package, as source and as wheel."""
    folder = tmp_path_factory.mktemp("packages")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, PACKAGE, folder=folder)
    return folder


@pytest.fixture(scope="module")
def project(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty project with the installed package."""
    folder = tmp_path_factory.mktemp("project")
    run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    [wheel] = packages.glob("*.whl")
    pip = (folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--no-index", "--find-links", WHEELS, wheel, folder=folder)
    for source in SOURCES.glob("*.py"):
        (folder / source.name).write_text(source.read_text())
    return folder


def test_registry_accepts_the_package(packages: Path) -> None:
    files = sorted(packages.iterdir())
    assert [file.name for file in files] == [
        "aloft_client-0.1.0-py3-none-any.whl",
        "aloft_client-0.1.0.tar.gz",
    ]
    run(sys.executable, "-m", "twine", "check", "--strict", *files, folder=packages)


def test_packages_contain_exactly_what_they_should(packages: Path) -> None:
    [wheel], [source] = packages.glob("*.whl"), packages.glob("*.tar.gz")
    own = {
        str(path.relative_to(PACKAGE / "src"))
        for path in (PACKAGE / "src").rglob("*.py*")
        if path.suffix != ".pyc"
    }
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        notes = {name.split("/", 1)[1] for name in archive.namelist() if ".dist-info/" in name}
    assert names == {*own, "aloft/py.typed"}
    assert {"METADATA", "licenses/LICENSE"} <= notes
    with tarfile.open(source) as tape:
        folders = {name.split("/")[1] for name in tape.getnames()}
    assert folders <= {
        "src",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "pyproject.toml",
        "PKG-INFO",
        ".gitignore",
    }


def test_installed_package_works_in_empty_project(project: Path) -> None:
    given = server()
    settings = {"SERVICE_API_KEY": given["keys"]["write"], "SERVICE_API_URL": given["baseUrl"]}
    # A warning is a failure.
    done = run(project / "venv/bin/python", "-W", "error", "smoke.py", folder=project, **settings)
    assert json.loads(done.stdout) == [
        ["Database", ["Database"], ["monitor.retry"]],
        ["apiKey", "NOT_FOUND", [0]],
    ]


def mypy(folder: Path, *args: str | Path) -> str:
    """Returns the output of mypy."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder / ".mypy", *args]
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.stdout


def test_program_of_consumer_is_type_checked(project: Path) -> None:
    python: Any = project / "venv/bin/python"
    output = mypy(project, "--python-executable", python, "smoke.py", "typed.py")
    found = re.findall(r"typed\.py:(\d+): error: .*\[([a-z-]+)\]", output)
    lines = (project / "typed.py").read_text().splitlines()
    marked = [(at, line.split("# wrong: ")[1]) for at, line in enumerate(lines, 1) if "# wrong: " in line]
    assert [(int(at), code) for at, code in found] == marked, output
    assert "smoke.py" not in output


# httpx2 has no types to read before Python 3.11, because it cannot be installed there.
VERSIONS = ("3.10", "3.11", "3.14") if sys.version_info >= (3, 11) else ("3.10",)


@pytest.mark.parametrize("version", VERSIONS)
def test_package_is_type_checked(tmp_path: Path, version: str) -> None:
    settings = ("--config-file", PACKAGE / "pyproject.toml", "--python-version", version)
    output = mypy(tmp_path, *settings, PACKAGE / "src")
    assert output.startswith("Success"), output
