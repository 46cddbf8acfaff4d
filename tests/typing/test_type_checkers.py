"""mypy and pyright infer the type of each call's value in a user's script, and find its mistakes."""

import importlib.util
import pathlib
import re
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


def errors_of(checker, scripts):
    """Return the lines with the errors of a type checker that read the scripts, and all that it said."""
    if checker == "mypy":
        # The configuration and the cache of `make lint`, so that the packages are read once.
        command = ["mypy", "--strict", "--config-file", REPOSITORY / "pyproject.toml", *scripts]
    else:
        command = ["pyright", "--pythonpath", sys.executable, *scripts]
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if re.search(r":\d+.*\berror\b", line)], done.stdout + done.stderr


@pytest.fixture(params=["mypy", "pyright"])
def checker(request):
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    if request.param == "pyright" and shutil.which("node") is None:
        pytest.skip("pyright needs node on the path, which is not there")
    return request.param


@pytest.mark.slow
def test_calls_have_the_types_of_their_values_and_mistakes_are_found(checker, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    errors, said = errors_of(checker, [HERE / "user_script.py", wrong])  # one run: reading the packages takes seconds
    lines = {int(found[1]) for line in errors if (found := re.search(r"wrong\.py:(\d+)", line))}
    assert lines == {5, 6}, said
    assert all("wrong.py:" in line for line in errors), said  # none is the user's
