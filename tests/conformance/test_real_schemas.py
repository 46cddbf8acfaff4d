"""Real schemas of MaskBench with their instances: the same promises as in `test_suite`.

`expected_real.json` names the schemas that do not pass, and why. `STRUCTGEN_DIFFERENTIAL=full` takes all of them.
"""

import json
import os
import pathlib
import random

import pytest
from support.judging import differences, judge
from support.shared_data import NO_DATA, real_case, real_files

EXPECTED = json.loads(pathlib.Path(__file__).with_name("expected_real.json").read_text())
FILES = real_files()
SAMPLE = 150
if os.environ.get("STRUCTGEN_DIFFERENTIAL") != "full":
    FILES = sorted(random.Random(3).sample(FILES, min(SAMPLE, len(FILES))))


@pytest.mark.skipif(not FILES, reason=NO_DATA)
@pytest.mark.parametrize("path", FILES or [pathlib.Path("none")], ids=lambda path: path.stem)
def test_instances_are_judged_as_expected(path):
    verdict = judge(real_case(path), property_order="any")
    different = differences({path.stem: verdict}, {path.stem: EXPECTED.get(path.stem, "right")})
    assert not different, "\n".join([*different, "python tests/conformance/update.py writes the expectations anew"])
