"""mypy and pyright infer the type of each call's value in a user's script, and find its mistakes."""

import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
REPOSITORY = HERE.parents[1]
WRONG = """\
import structgen
from typing import Literal

model = structgen.load("smollm2")
number: int = structgen.generate(model, "Is it good?", Literal["good", "bad"])
structgen.generate(model, "How old?", int, temperatur=1)
"""


def checked(checker, script):
    """Return the finished process of a type checker that read a script."""
    if checker == "mypy":
        # The configuration and the cache of `make lint`, so that the packages are read once.
        command = ["mypy", "--strict", "--config-file", REPOSITORY / "pyproject.toml", script]
    else:
        command = ["pyright", "--pythonpath", sys.executable, script]
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )


@pytest.fixture(params=["mypy", "pyright"])
def checker(request):
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    if request.param == "pyright" and shutil.which("node") is None:
        pytest.skip("pyright needs node on the path, which is not there")
    return request.param


@pytest.mark.slow
def test_calls_have_the_types_of_their_values(checker):
    done = checked(checker, HERE / "user_script.py")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_mistakes_are_found(checker, tmp_path):
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    done = checked(checker, script)
    lines = [line for line in done.stdout.splitlines() if "error" in line and "wrong.py:" in line]
    assert {5, 6} == {int(line.split("wrong.py:")[1].split(":")[0]) for line in lines}, done.stdout + done.stderr
