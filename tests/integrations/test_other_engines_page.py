"""The snippets of docs/other-engines.md run, in their order."""

import contextlib
import io
import pathlib
import re

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "other-engines.md"


def test_the_snippets_run():
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(snippets) >= 4
    names = {"__name__": "page"}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for snippet in snippets:
            exec(compile(snippet, str(PAGE), "exec"), names)
    assert printed.getvalue().count("root ::=") == 2
