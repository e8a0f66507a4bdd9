"""`make release-check`: is this ready to be released?

Builds the sdist and, out of it, the wheel; installs each into an empty environment of every Python there is that we
support; and tries the version, the demo, and that nothing was left in an empty home.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hardwon

REPOSITORY = Path(__file__).parent.parent
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")


def pythons() -> Iterator[str]:
    """One of each supported version: on the path, or among pyenv's."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in SUPPORTED:
        places = [
            shutil.which(f"python{version}"),
            *map(str, sorted(root.glob(f"{version}.*/bin/python"), reverse=True)),
        ]
        found = next((place for place in places if place and _runs(place, version)), None)
        if found:
            yield found


def _runs(python: str, version: str) -> bool:
    """A shim may stand for a version that is not chosen."""
    line = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", line], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


def build(target: Path) -> list[Path]:
    """The sdist, and the wheel that is made out of it: what an installer of the sdist would make, too."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(REPOSITORY)]
    subprocess.run(command, check=True, capture_output=True)
    built = sorted(target.iterdir())
    assert len(built) == 2, built
    return built


def tried(python: str, package: Path, folder: Path) -> str:
    """What is wrong with it in an environment of its own; empty if nothing is."""
    subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True, capture_output=True)
    own = folder / "venv" / "bin"
    install = [str(own / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(package)]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"cannot be installed: {done.stderr.strip().splitlines()[-1]}"
    home = folder / "home"
    home.mkdir()
    variables = {"HOME": str(home), "PATH": f"{own}{os.pathsep}/usr/bin{os.pathsep}/bin", "LANG": "C.UTF-8"}
    for arguments, wanted in {"--version": f"hardwon {hardwon.__version__}", "up --demo": "WHAT KEEPS FAILING"}.items():
        line = [str(own / "hardwon"), *arguments.split()]
        told = subprocess.run(line, env=variables, cwd=home, capture_output=True, text=True, check=False)
        if told.returncode or wanted not in told.stdout:
            return f"`hardwon {arguments}` said {(told.stderr or told.stdout).strip()[-300:]!r}"
    left = [str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()]
    return f"the demo left {left}" if any("hardwon.db" in name for name in left) else ""


def main() -> int:
    wrong = 0
    changes = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    for name, told in {"CHANGELOG.md": f"\n## {hardwon.__version__} (" in changes,
                       "CITATION.cff": f"\nversion: {hardwon.__version__}\n" in citation}.items():  # fmt: skip
        print(f"{'ok' if told else 'WRONG':5}  {name} speaks of {hardwon.__version__}")
        wrong += not told
    with tempfile.TemporaryDirectory() as folder:
        for package in build(Path(folder)):
            for number, python in enumerate(pythons()):
                place = Path(folder) / f"{package.name}-{number}"
                place.mkdir()
                trouble = tried(python, package, place)
                print(f"{'WRONG' if trouble else 'ok':5}  {package.name}, {python}  {trouble}", flush=True)
                wrong += bool(trouble)
                shutil.rmtree(place)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
