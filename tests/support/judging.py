"""What structgen makes of a schema with instances: right, refused by name, or wrong; and what was expected."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from support.beyond import is_beyond
from support.shared_data import Case, Instance, remotes, suite_cases
from support.vocabularies import BYTES

import structgen
from structgen.schema import SchemaWarning

__all__ = ["Verdict", "differences", "judge", "judge_file"]


@dataclass(frozen=True)
class Verdict:
    """What became of a case.

    Attributes:
        text: "right", "refused KEYWORD", or "wrong: …".
        is_broken: whether an invalid instance was let through, or an error was none of structgen's: never expected.
    """

    text: str
    is_broken: bool = False


def judge_file(file: str) -> dict[str, Verdict]:
    """The verdict on each group of a file of the official suite.

    The suite's keys come in any order, and outside of `optional/format` a format is an annotation where the file is
    about formats: that is what the standard says of schemas that do not ask for more.
    """
    options: dict[str, Any] = {"property_order": "any", "registry": remotes()}
    if file.endswith("/format"):
        options["formats"] = "annotate"
    return {
        case.name: judge(case.without(lambda instance, case=case: is_beyond(file, case, instance)), **options)
        for case in suite_cases(file)
    }


def judge(case: Case, **options: Any) -> Verdict:
    """Compiles the schema over bytes and gives each instance, as `json.dumps` writes it, to a matcher.

    Args:
        case: the schema and the instances.
        options: of `structgen.compile`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        try:
            constraint = structgen.compile(case.schema, BYTES, **options)
        except structgen.UnsatisfiableSchemaError:
            constraint = None
        except structgen.LimitExceededError as error:
            return Verdict(f"refused by the limit {error.limit}")
        except structgen.SchemaError as error:
            return Verdict(f"refused {error.keyword}")
        except Exception as error:
            return Verdict(f"crash: {error!r}", is_broken=True)
    wrong = [instance for instance in case.instances if _allows(constraint, instance) != instance.is_valid]
    return _verdict(wrong)


def _allows(constraint: structgen.Constraint[Any] | None, instance: Instance) -> bool:
    if constraint is None:  # no value satisfies the schema
        return False
    matcher = constraint.matcher()
    try:
        matcher.accept_bytes(json.dumps(instance.data, ensure_ascii=False, allow_nan=False).encode())
    except structgen.TokenRejectedError:
        return False
    return bool(matcher.is_accepting)


def _verdict(wrong: Iterable[Instance]) -> Verdict:
    accepted = tuple(instance.description for instance in wrong if not instance.is_valid)
    refused = tuple(instance.description for instance in wrong if instance.is_valid)
    said = [f"accepts the invalid {_quoted(accepted)}"] if accepted else []
    said += [f"refuses the valid {_quoted(refused)}"] if refused else []
    return Verdict("wrong: " + "; ".join(said) if said else "right", is_broken=bool(accepted))


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def differences(found: Mapping[str, Verdict], expected: Mapping[str, str]) -> list[str]:
    """Where cases are not as the file says they are, a line for each; what is never expected comes first.

    Args:
        found: the verdicts by the cases' names.
        expected: what the file says, by the same names; both ways a name that the other lacks is a difference.
    """
    lines = [f"{name}: {verdict.text}" for name, verdict in found.items() if verdict.is_broken]
    lines += [
        f"{name}: expected {expected.get(name, 'nothing')}, found {verdict.text}"
        for name, verdict in found.items()
        if not verdict.is_broken and verdict.text != expected.get(name)
    ]
    return lines + [
        f"{name}: expected {text}, and it is not there" for name, text in expected.items() if name not in found
    ]
