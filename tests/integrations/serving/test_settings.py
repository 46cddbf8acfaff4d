"""Settings of servers, from environment variables."""

from __future__ import annotations

import pytest

from structgen import Limits
from structgen.integrations.serving.settings import ServerSettings, check_option


def test_defaults():
    settings = ServerSettings.from_environment({"PATH": "/bin"})
    assert settings == ServerSettings()
    assert settings.limits == Limits(compile_seconds=10.0, mask_seconds=0.5)
    assert not settings.options


def test_all_variables():
    settings = ServerSettings.from_environment(
        {
            "STRUCTGEN_WHITESPACE": "single",
            "STRUCTGEN_LENIENT": "true",
            "STRUCTGEN_TOKENIZATION": "proper",
            "STRUCTGEN_COMPILE_SECONDS": "1.5",
            "STRUCTGEN_MEMORY_BYTES": "1000000",
            "STRUCTGEN_CHECK_SECONDS": "0.1",
            "STRUCTGEN_MAX_REQUEST_BYTES": "1000",
            "STRUCTGEN_SLOW_MASKS_SECONDS": "3",
            "STRUCTGEN_ON_BUDGET": "finish",
            "STRUCTGEN_MAX_REPEATS": "8",
            "STRUCTGEN_WARM": "background",
        }
    )
    assert settings.options == {"whitespace": "single", "lenient": True, "tokenization": "proper"}
    assert settings.limits == Limits(compile_seconds=1.5, mask_seconds=0.5, memory_bytes=1_000_000)
    assert settings.on_budget == "finish"
    assert settings.max_repeats == 8
    assert settings.warm == "background"
    assert ServerSettings.from_environment({"STRUCTGEN_WARM": "0.5"}).warm == 0.5
    assert (settings.check_seconds, settings.max_request_bytes, settings.slow_masks_seconds) == (0.1, 1000, 3.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WHITESPACE", "much"),
        ("LENIENT", "perhaps"),
        ("TOKENIZATION", "good"),
        ("COMPILE_SECONDS", "soon"),
        ("MASK_SECONDS", "0"),
        ("MASK_SECONDS", "nan"),
        ("MEMORY_BYTES", "1.5"),
        ("CHECK_SECONDS", "-1"),
        ("ON_BUDGET", "stop"),
        ("WARM", "soon"),
        ("WARM", "-1"),
        ("MAX_REQUEST_BYTES", ""),
    ],
)
def test_errors_name_the_variable(name, value):
    with pytest.raises(ValueError, match=f"the environment variable STRUCTGEN_{name}={value}: "):
        ServerSettings.from_environment({f"STRUCTGEN_{name}": value})


def test_unknown_options_are_refused():
    with pytest.raises(ValueError, match="unknown option 'registry'"):
        check_option("registry", None)
