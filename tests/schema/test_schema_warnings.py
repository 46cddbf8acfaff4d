"""Warnings about schemas name the line that gave the schema, compiled and uncompiled alike."""

import pytest

import structgen
from structgen.schema import SchemaWarning

VOCABULARY = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "string", "format": "warned-of"}, "unknown format 'warned-of'"),
        ({"not": {"type": "string", "pattern": r"(warned-of+)\1"}}, "pattern is dropped"),
    ],
)
def test_a_warning_names_the_callers_line(schema, message):
    with pytest.warns(SchemaWarning, match=message) as found:
        structgen.compile(schema, VOCABULARY, lenient=True)
    assert {warning.filename for warning in found} == {__file__}
