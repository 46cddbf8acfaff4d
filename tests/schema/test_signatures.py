"""Functions with `**options` name each option in their signature, with its default."""

import inspect

import pytest

import structgen
from structgen.generation.settings import (
    CallOptions,
    ConstraintOptions,
    GenerationOptions,
    GeneratorOptions,
    Settings,
)
from structgen.mapping import map_file
from structgen.schema.options import SchemaArguments, SchemaOptions

OPTIONS = {
    GeneratorOptions: [
        structgen.Generator,
        structgen.abatch,
        structgen.agenerate,
        structgen.astream,
        structgen.batch,
        structgen.fn,
        structgen.generate,
        structgen.stream,
        structgen.trace,
        map_file,
    ],
    GenerationOptions: [
        getattr(structgen.Generator, name)
        for name in ("__call__", "abatch", "arun", "astream", "batch", "begin", "run", "stream")
    ],
    CallOptions: [
        structgen.acall,
        structgen.arun_tools,
        structgen.astream_call,
        structgen.astream_tools,
        structgen.call,
        structgen.run_tools,
        structgen.stream_call,
        structgen.stream_tools,
    ],
    SchemaArguments: [structgen.check, structgen.compile, structgen.export],
    ConstraintOptions: [structgen.classify, structgen.score],
}


@pytest.mark.parametrize(
    ("function", "options"),
    [(function, options) for options, functions in OPTIONS.items() for function in functions],
    ids=lambda value: value.__name__,
)
def test_options_are_parameters(function, options):
    parameters = inspect.signature(function).parameters
    assert parameters.keys() >= options.__annotations__.keys()
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in options.__annotations__)


def test_every_public_function_with_options_names_them():
    shown = {function for functions in OPTIONS.values() for function in functions}
    for name in structgen.__all__:
        function = getattr(structgen, name)
        if inspect.isroutine(function) and inspect.getfullargspec(inspect.unwrap(function)).varkw == "options":
            assert function in shown, name


def test_the_defaults_are_those_that_hold():
    parameters = inspect.signature(structgen.generate).parameters
    settings = Settings()
    for name in GenerationOptions.__annotations__:
        assert parameters[name].default == getattr(settings, name), name
    parameters = inspect.signature(structgen.compile).parameters
    for name in SchemaArguments.__annotations__:
        assert parameters[name].default == getattr(SchemaOptions(), name), name


def test_defaults_of_runs_and_calls_differ_from_those_of_compile():
    assert inspect.signature(structgen.compile).parameters["whitespace"].default == "any"
    assert inspect.signature(structgen.generate).parameters["whitespace"].default == "single"
    assert inspect.signature(structgen.generate).parameters["on_budget"].default == "finish"
    assert inspect.signature(structgen.call).parameters["on_budget"].default == "error"


def test_an_option_of_a_method_keeps_the_value_of_its_generator():
    assert inspect.signature(structgen.Generator.run).parameters["temperature"].default is ...
