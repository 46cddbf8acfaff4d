"""The official JSON-Schema-Test-Suite: nothing invalid is let through, and nothing that was right turns wrong.

`expected_suite.json` says of each group what becomes of it. A test fails where a group is not as the file says, be it
better or worse; `python tests/conformance/update.py` writes the file anew, for a person to read the difference.
"""

import json
import pathlib

import pytest
from support.judging import differences, judge_file
from support.shared_data import NO_DATA, suite_files

EXPECTED = json.loads(pathlib.Path(__file__).with_name("expected_suite.json").read_text())
FILES = suite_files()


@pytest.mark.skipif(not FILES, reason=NO_DATA)
@pytest.mark.parametrize("file", FILES or EXPECTED)
def test_groups_are_as_expected(file):
    different = differences(judge_file(file), EXPECTED.get(file, {}))
    assert not different, "\n".join([*different, "python tests/conformance/update.py writes the expectations anew"])
