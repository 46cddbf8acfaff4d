"""The options of Pydantic's models that hold where a type is used.

Options such as `str_max_length` belong to a model, and hold for the types inside of it that have none of their own:

    class Short(BaseModel):
        model_config = ConfigDict(str_max_length=3)
        tree: Tree                                    type Tree = list[Tree] | str
        name: Name                                    class Name(TypedDict): first: str

In `Short`, the texts of `Tree` and `Name` have at most 3 characters, and elsewhere any number. Pydantic's generator of
JSON Schemas makes one of each type for all uses, with the options of the first one, or with none. `exact_json_schema`
makes one for each set of options: a type has another name for each.

Where which options hold is read from the core schemas, as pydantic-core reads it: a model, dataclass or typed dict has
those of its core schema (`config`), and all types inside of it have them, too. A definition that other types refer to
has the options of the model around the reference, as each model is validated by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

__all__ = ["OptionScopes"]

_WITH_OPTIONS = frozenset({"dataclass", "model", "typed-dict"})
"""Types whose core schemas hold options."""
_THAT_COUNT = (
    "regex_engine", "str_max_length", "str_min_length", "str_strip_whitespace", "str_to_lower", "str_to_upper",
    "strict", "val_json_bytes", "validate_by_alias", "validate_by_name", "validate_default",
)  # fmt: skip
"""Options that decide which texts are read."""

_Options = tuple[Any, ...]


class _Scope(NamedTuple):
    """The options and definitions that hold at one level of a core schema: outside of all models, or in one model.

    Attributes:
        options: the options of the types there, wrapped as Pydantic does it.
        of_definitions: the options of the definitions that these types refer to.
        definitions: the core schemas of these definitions, by name.
    """

    options: Any
    of_definitions: Any
    definitions: Mapping[str, Any]


class OptionScopes:
    """The options that hold at the type of which a JSON Schema is being made, and the names of types by their options.

    Args:
        schema: the whole core schema.
        options: those that hold outside of all models, wrapped as Pydantic does it.
    """

    def __init__(self, schema: Any, options: Any) -> None:
        self._wrapper = type(options)
        self._names: dict[tuple[str, _Options], str] = {}  # of types, by their names in core schemas and options
        self._uses: Counter[str] = Counter()  # sets of options, by the names of types in core schemas
        self._begun: set[str] = set()
        definitions = _definitions_of(schema)
        while schema["type"] in ("definitions", "definition-ref"):
            schema = schema["schema"] if schema["type"] == "definitions" else definitions[schema["schema_ref"]]
        if _is_validated_alone(schema):
            options = self._wrapped(schema.get("config"))
        else:  # without what concerns documentation only, such as `json_schema_mode_override`
            options = self._wrapped({name: options.config_dict.get(name) for name in _THAT_COUNT})
        self._scopes = [_Scope(options, options, definitions)]

    @property
    def options(self) -> Any:
        """The options that hold at this type, wrapped as Pydantic does it."""
        return self._scopes[-1].options

    @property
    def definitions(self) -> Mapping[str, Any]:
        """The core schemas that references may name at this type, by their names."""
        return self._scopes[-1].definitions

    def _wrapped(self, options: Mapping[str, Any] | None) -> Any:
        given = (options or {}).items()
        return self._wrapper({name: value for name, value in given if value is not None}, check=False)

    @contextmanager
    def inside(self, schema: Any) -> Iterator[None]:
        """Enter the core schema of a model, dataclass or typed dict."""
        options, outer = self._wrapped(schema.get("config")), self._scopes[-1]
        scope = outer._replace(options=options)
        if _is_validated_alone(schema):
            own = _definitions_of(vars(schema["cls"]).get("__pydantic_core_schema__"))
            scope = _Scope(options, options, {**outer.definitions, **own})
        with self._entered(scope):
            yield

    @contextmanager
    def _entered(self, scope: _Scope) -> Iterator[None]:
        self._scopes.append(scope)
        try:
            yield
        finally:
            self._scopes.pop()

    def named(self, schema: Any) -> Any:
        """Return a core schema with the name that its type has with the options that hold for it."""
        return {**schema, "ref": self._name(schema["ref"], schema)} if "ref" in schema else schema

    def begin(self, definitions: list[Any]) -> None:
        """Give definitions their usual names: those of the options that hold outside of all models."""
        self._begun.update(self._name(definition["ref"], definition) for definition in definitions)

    def referred_to(self, schema: Any, make: Callable[[Any], Any]) -> Any:
        """Return a reference to a definition with the options that hold for it here.

        Args:
            schema: a reference.
            make: makes the JSON Schema of the definition; called at the first reference with these options.
        """
        definition, scope = self.definitions.get(schema["schema_ref"]), self._scopes[-1]
        if definition is None:
            return schema
        name = self._name(schema["schema_ref"], definition)
        if name not in self._begun:
            self._begun.add(name)
            with self._entered(scope._replace(options=scope.of_definitions)):
                make(definition)
        return {**schema, "schema_ref": name}

    def _name(self, ref: str, schema: Any) -> str:
        """Return the name of a type with the options that hold for it; the first one of a type is its own."""
        if schema["type"] in _WITH_OPTIONS:
            given: Mapping[str, Any] = schema.get("config") or {}
        else:
            given = self._scopes[-1].of_definitions.config_dict
        key = ref, tuple(given.get(option) or None for option in _THAT_COUNT)
        if key not in self._names:
            others = self._uses[ref]
            self._names[key] = f"{ref}0{others}" if others else ref
            self._uses[ref] += 1
        return self._names[key]


def _definitions_of(schema: Any) -> dict[str, Any]:
    """Return the core schemas that a core schema defines, by their names."""
    is_core_schema = isinstance(schema, Mapping) and schema.get("type") == "definitions"
    return {each["ref"]: each for each in schema["definitions"]} if is_core_schema else {}


def _is_validated_alone(schema: Any) -> bool:
    """Return whether Pydantic validates the values of a type by the validator that its class has."""
    return schema["type"] in ("model", "dataclass") and "__pydantic_validator__" in vars(schema["cls"])
