"""JSON Schemas of types that accept exactly the JSON that Pydantic accepts, or less, never more.

Pydantic's own generator makes documentation. Every text that satisfies the schema of this one passes `validate_json`.
To that end it

- closes models that ignore extra keys (ignored keys are useless output),
- names the formats that Pydantic parses,
- makes tagged unions require their tag,
- and marks constraints that no grammar expresses, such as files that must exist; reading them is an error.

Validators in Python are not visible here; only `validate_json` checks them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from enum import Enum
from typing import Any, ClassVar

from pydantic.json_schema import JsonSchemaValue

from structgen.schema.formats import UNSUPPORTED, language
from structgen.schema.own_keywords import REGEX_DIALECT
from structgen.schema.pydantic.alias_paths import may_lead, nest
from structgen.schema.pydantic.chains import joined_steps
from structgen.schema.pydantic.constraints import VALUES, Constraint, constraint_of, narrowed, warn_of_bound
from structgen.schema.pydantic.core_schemas import (
    FUNCTIONS,
    all_names,
    are_keys_shared,
    deep_paths,
    follows_user_function,
    is_hashable,
    is_outlines,
    is_own,
    keeps_values_distinct,
    paths_beside,
    single_names,
    text_kind,
)
from structgen.schema.pydantic.defaults import is_refused_default, without_refused_defaults
from structgen.schema.pydantic.map_keys import keeps_keys_distinct, key_names, member_names
from structgen.schema.pydantic.moments import zone_names
from structgen.schema.pydantic.option_scopes import OptionScopes
from structgen.schema.pydantic.own_json_schemas import without_values
from structgen.schema.pydantic.scalar_json_schemas import (
    CHANGES_TEXT,
    IS_BYTES,
    ScalarJsonSchema,
    refused,
)

__all__ = ["ExactJsonSchema"]

_TIGHTER_FORMATS = {
    "email": "x-email",
    "ipvanyaddress": "x-ip",
}
_LOOKS_AT_MACHINE = frozenset(
    {
        "PathType.validate_directory", "PathType.validate_file", "PathType.validate_new", "PathType.validate_socket",
        "import_string",
    }
)  # fmt: skip
_WRITTEN_IN_PYTHON = {
    "Color._validate": "which texts are colors is code of Pydantic",
    "PaymentCardNumber.validate": "the check digit of a card number is computed",
}
"""Types of Pydantic whose texts no JSON Schema describes, by the function that reads them, and why they are refused."""
_SCALARS = ["string", "number", "boolean", "null"]


def _matched_whole(result: JsonSchemaValue) -> JsonSchemaValue:
    """Return the schema of a type of outlines, whose validator matches the pattern with the whole string."""
    return result | {"pattern": rf"\A(?:{result['pattern']})\Z", REGEX_DIALECT: "python"}


class ExactJsonSchema(ScalarJsonSchema):
    """Pydantic's generator of JSON Schemas, made as strict as `validate_json`.

    Attributes:
        outer_options: the options that hold outside of all models: those of an adapter.
    """

    outer_options: ClassVar[Mapping[str, Any]] = {}
    _scopes: OptionScopes  # set by `generate`

    @property
    def _config(self) -> Any:
        """The options that hold at the type of which a schema is being made."""
        return self._scopes.options

    def emit_warning(self, kind: Any, detail: str) -> None:
        """Ignore warnings: they are about defaults that JSON cannot express, which do not matter here."""

    # --- functions ---------------------------------------------------------------------------------------------------

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of any type; refuse Pydantic's types that look at the machine, such as existing files."""
        if schema["type"] == "missing-sentinel" and "schema" not in schema:
            return {"not": {}}  # `pydantic.MISSING`: no JSON is read as it
        schema = self._scopes.named(schema)
        kind = text_kind(schema, is_strict=bool(getattr(self._config, "strict", False)))
        if kind == "bytes" and self.reads_encoded_bytes():
            return refused("val_json_bytes")
        if schema["type"] in FUNCTIONS:
            function = schema["function"]["function"]
            if (constraint := constraint_of(function)) is not None:
                return self._constrained(schema, constraint)
            name = getattr(function, "__qualname__", "")
            if is_own(function):
                if name in _LOOKS_AT_MACHINE:
                    return refused("format", f"{name} looks at the machine; a grammar cannot")
                if name in _WRITTEN_IN_PYTHON:
                    return refused("format", _WRITTEN_IN_PYTHON[name])
                if name == "validate_str_is_valid_iana_tz":
                    return zone_names()
                if name == "pattern_bytes_validator":
                    return refused("type", "Pydantic reads no JSON as Pattern[bytes]")
                if name == "EncodedStr.decode_str":  # wraps bytes in some releases
                    for option in ("str_to_lower", "str_to_upper"):
                        if getattr(self._config, option, False):  # before it is decoded
                            return refused(option)
                    result = super().generate_inner(schema)
                    result.pop(IS_BYTES, None)
                    return result
            if is_outlines(function):
                return _matched_whole(super().generate_inner(schema))
        result = super().generate_inner(without_values(schema, self._scopes.definitions))
        if kind == "str" and result.get("type") == "string":
            self.bound_text(result)
        if VALUES in schema:
            if schema["type"] == "str" and any(getattr(self._config, option, False) for option in CHANGES_TEXT):
                return refused("pattern")
            return {"allOf": [result, *schema[VALUES]]}
        return result

    def _constrained(self, schema: Any, constraint: Constraint) -> JsonSchemaValue:
        """Return the schema of a type with one of Pydantic's constraints around it."""
        inner = narrowed(schema["schema"], constraint)
        if inner is not None:
            result = self.generate_inner(inner)
            # A length in a string replaces that of the model's options; around it, both hold.
            has_option = any(getattr(self._config, f"str_{name}", None) for name in constraint.keywords)
            return {"allOf": [self.generate_inner(schema["schema"]), result]} if has_option else result
        if not follows_user_function(schema["schema"]):
            return refused(constraint.name)
        result = super().generate_inner(schema)
        has_length = not {"minLength", "maxLength"}.isdisjoint(result) and result.get("type") != "string"
        if constraint.name in result or has_length or constraint.is_of_pipeline:  # a keyword that has no effect there
            warn_of_bound(constraint.name, schema["schema"]["function"]["function"])
            result.pop("multiple_of", None)  # Pydantic's name: it would be taken for a misspelled keyword
        return result

    def chain_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of a chain of types, as for a union with a pattern: the union, then a string."""
        first, *others = schema["steps"]
        if first["type"] == "any" and [step.get("cls") for step in others] == [Hashable]:
            return {"type": _SCALARS}
        steps = joined_steps(schema["steps"])
        if steps is None:
            return refused("type", "a value that is read as one type and then as another")
        return self.generate_inner(steps[0]) if len(steps) == 1 else {"allOf": [*map(self.generate_inner, steps)]}

    def is_subclass_schema(self, schema: Any) -> JsonSchemaValue:
        """Refuse classes as values: Pydantic reads none of them from JSON."""
        return refused("type", f"{schema['cls'].__name__}: a class cannot be read from JSON")

    # --- collections -------------------------------------------------------------------------------------------------

    def tuple_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of tuples; refuse items after the repeated ones."""
        index = schema.get("variadic_item_index")
        if index is not None and index + 1 != len(schema["items_schema"]):
            return {"type": "array", "items": refused("prefixItems"), "minItems": 1}
        result = super().tuple_schema(schema)
        required = len(schema["items_schema"]) - (index is not None)
        result["minItems"] = max(required, result.get("minItems", 0))  # Pydantic writes one of them, or the other
        if index is None:
            result["maxItems"] = min(required, result.get("maxItems", required))
        return result

    def set_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of sets. Equal items become one, so they must differ only if there is a minimum."""
        result = super().set_schema(schema)
        items = schema.get("items_schema", {"type": "any"})
        if result.get("minItems", 0) < 2:
            result.pop("uniqueItems", None)
        elif not keeps_values_distinct(items) or any(getattr(self._config, option, False) for option in CHANGES_TEXT):
            return refused("uniqueItems")
        if items["type"] == "any":
            result["items"] = {"type": _SCALARS}
        elif not is_hashable(items):
            result["items"] = refused("items")
        return result

    frozenset_schema = set_schema

    def dict_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of maps, with that of their keys."""
        result = super().dict_schema(schema)
        result.pop("patternProperties", None)
        result.pop("propertyNames", None)
        values = self.generate_inner(schema["values_schema"]) if "values_schema" in schema else {}
        result["additionalProperties"] = values or True
        keys = self.generate_inner(schema["keys_schema"]) if "keys_schema" in schema else {}
        names = member_names(schema.get("keys_schema"), self._scopes.definitions) or key_names(keys)
        is_rewritten = any(getattr(self._config, option, False) for option in CHANGES_TEXT)
        if result.get("minProperties", 0) > 1 and not keeps_keys_distinct(schema.get("keys_schema"), is_rewritten):
            names = refused("minProperties")
        if names is not None:
            result["propertyNames"] = names
        return result

    # Kinds of maps that newer releases have.
    ordered_dict_schema = frozendict_schema = counter_schema = dict_schema

    # --- models ------------------------------------------------------------------------------------------------------

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of models, dataclasses or typed dicts, closed unless they keep extra keys."""
        make = getattr(super(), f"{schema['type'].replace('-', '_')}_schema")
        with self._scopes.inside(schema):
            return _closed(make(schema), schema)

    dataclass_schema = typed_dict_schema = model_schema

    def model_fields_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of a model's fields, with that of the names of its extra keys, which are always `str`."""
        result = super().model_fields_schema(schema)
        keys = schema.get("extras_keys_schema", {"type": "any"})
        names = self.generate_inner(keys)
        is_text = keys["type"] in ("any", "literal") or (names.get("type") == "string" and "format" not in names)
        allowed = key_names(names) if is_text else refused("propertyNames")
        if allowed is not None:
            result["propertyNames"] = {"anyOf": [{"enum": list(result.get("properties", {}))}, allowed]}
        return result

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Return whether a field must be written: also if its default is refused, or if it has none (`OnErrorOmit`)."""
        if super().field_is_required(field, total):
            return True
        schema = field["schema"]
        has_none = schema["type"] == "default" and "default" not in schema and "default_factory" not in schema
        is_model = field["type"] != "typed-dict-field"  # the fields of a typed dict say so themselves
        return (has_none and is_model) or is_refused_default(schema, self._config, self._scopes.definitions)

    def named_tuple_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of named tuples: fields before one that must be written must be written, too."""
        given = without_refused_defaults(schema["fields"], self._config, self._scopes.definitions)
        return super().named_tuple_schema({**schema, "fields": given})  # type: ignore[typeddict-item]

    def p_arguments_schema(self, arguments: Any, var_args_schema: Any) -> JsonSchemaValue:
        """Return the schema of positional arguments: the fields of named tuples in older releases."""
        given = without_refused_defaults(arguments, self._config, self._scopes.definitions)
        return super().p_arguments_schema(given, var_args_schema)

    def definitions_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of a type with the types that it refers to."""
        self._scopes.begin(schema["definitions"])
        return super().definitions_schema(schema)

    def definition_ref_schema(self, schema: Any) -> JsonSchemaValue:
        """Return a reference to the schema of a type, with the options that hold here."""
        return super().definition_ref_schema(self._scopes.referred_to(schema, self.generate_inner))

    def field_is_present(self, field: Any) -> bool:
        """Return whether a field is read from JSON: not if the constructor does not take it."""
        return bool(super().field_is_present(field)) and field.get("init", True) is not False

    def tagged_union_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of tagged unions: each branch requires its tag, even if the field has a default."""
        variants: list[tuple[JsonSchemaValue, list[Any]]] = []
        for tag, choice in schema["choices"].items():
            branch = self.generate_inner(choice)
            value = tag.value if isinstance(tag, Enum) else tag
            for known, tags in variants:
                if known == branch:
                    tags.append(value)
                    break
            else:
                variants.append((branch, [value]))
        discriminator = schema["discriminator"]
        if callable(discriminator):  # a user's function picks the branch, as a validator
            return {"anyOf": [branch for branch, _ in variants]}
        names = [discriminator] if isinstance(discriminator, str) else single_names(discriminator)
        if not names:
            return refused("discriminator")
        return {"anyOf": [self._tagged(branch, tags, names) for branch, tags in variants]}

    def _tagged(self, branch: JsonSchemaValue, tags: list[Any], names: list[str]) -> JsonSchemaValue:
        try:
            known = _resolved(self, branch).get("properties", {})
        except RuntimeError:  # a model whose schema is not complete yet
            known = {}
        name = next((name for name in names if name in known), names[-1])
        return {"allOf": [branch, {"required": [name], "properties": {name: {"enum": tags}}}]}

    def _get_alias_name(self, field: Any, name: str) -> str:
        """Return the key of a field; older releases return its alias where the options of the model forbid aliases."""
        reads_aliases = getattr(self._config, "validate_by_alias", None) is not False
        return super()._get_alias_name(field, name) if reads_aliases else name

    def generate(self, schema: Any, mode: Any = "validation") -> JsonSchemaValue:
        """Return the whole schema of a core schema, with our formats."""
        options: Any = super()._config
        self._scopes = OptionScopes(
            schema, type(options)(self.outer_options, check=False) if self.outer_options else options
        )
        result = super().generate(schema, mode)
        _tighten(result)
        return result


def _resolved(generator: ExactJsonSchema, schema: JsonSchemaValue) -> JsonSchemaValue:
    """Return the schema that a reference names. Releases of Pydantic name the method differently."""
    method: Any = getattr(generator, "resolve_ref_schema", None) or getattr(generator, "resolve_schema_to_update", None)
    return dict(method(schema))


def _closed(result: JsonSchemaValue, schema: Any) -> JsonSchemaValue:
    """Close an object that does not keep extra keys; in an open one, forbid other names of its fields as extra keys."""
    if result.get("type") != "object" or "properties" not in result:
        return result
    config = schema.get("config", {})
    if config.get("validate_by_alias") is not False:
        if are_keys_shared(schema):
            return refused("validation_alias")
        if paths := deep_paths(schema):
            nest(result, paths, must_lead=result.get("additionalProperties") is False)
        reads_names = bool(config.get("validate_by_name") or config.get("populate_by_name"))
        if any(may_lead(result, path) for path in paths_beside(schema, reads_names=reads_names)):
            return refused("validation_alias")  # Pydantic would find a field in what is written for another one
    if result.setdefault("additionalProperties", False) is not False:
        for name in all_names(schema):
            result["properties"].setdefault(name, False)
    return result


def _tighten(schema: Any) -> None:
    """Replace the formats that Pydantic enforces more strictly than the standard by our own."""
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            name = value.get("format")
            if isinstance(name, str) and value.get("type") == "string":
                if name in ("base64", "base64url") and IS_BYTES not in value:  # the decoded bytes must be UTF-8
                    name = f"x-{name}-ascii"
                name = _TIGHTER_FORMATS.get(name, name)
                if name.startswith("x-") and not name.startswith(UNSUPPORTED) and language(name) is None:
                    name = f"{UNSUPPORTED} format"  # a format of ours that no longer exists
                value["format"] = name
            stack.extend(child for child in value.values() if isinstance(child, (dict, list)))
        elif isinstance(value, list):
            stack.extend(value)
