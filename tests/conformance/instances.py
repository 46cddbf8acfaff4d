"""Every instance of the real schemas, token by token under real tokenizers: valid ones are allowed, no other.

    python tests/conformance/instances.py FOLDER …      # folders of tokenizers

Where `test_real_schemas` gives bytes to a matcher, this asks the mask before each token, and for the end. Prints a
table, and what is not as it should be by name; the exit status is 1 if an invalid instance was let through.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import sys
import time
import warnings
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
from support.named_vocabularies import tokenizer_of, vocabulary_named  # noqa: E402
from support.shared_data import NO_DATA, Case, real_case, real_files  # noqa: E402

import structgen  # noqa: E402
from structgen.schema import SchemaWarning  # noqa: E402

KINDS = ("schemas", "refused", "valid", "allowed", "not allowed", "of refused schemas", "invalid", "let through")


class Reader:
    """Asks masks about the tokens of texts, for one tokenizer."""

    def __init__(self, folder: str) -> None:
        self.tokenizer = tokenizer_of(folder)
        self.vocabulary = vocabulary_named(folder)
        self._mask = structgen.allocate_token_bitmask(1, self.vocabulary.size)

    def allows(self, constraint: structgen.Constraint[Any], value: Any) -> bool:
        """Whether the masks let each token of a value's text through, and then the end."""
        matcher = constraint.matcher()
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        for token_id in [*self.tokenizer.encode(text, add_special_tokens=False), self.vocabulary.eos_token_ids[0]]:
            matcher.fill_next_token_bitmask(self._mask, 0)
            if not self._mask[0, token_id // 32] >> np.uint32(token_id % 32) & np.uint32(1):
                return False
            matcher.accept_token(token_id)
        return True


def examine(case: Case, reader: Reader) -> tuple[collections.Counter[str], list[str]]:
    """The counts of one schema, and its faults in words."""
    valid = [instance for instance in case.instances if instance.is_valid]
    counts = collections.Counter({"schemas": 1, "valid": len(valid), "invalid": len(case.instances) - len(valid)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        try:
            constraint = structgen.compile(case.schema, reader.vocabulary, property_order="any")
        except structgen.UnsatisfiableSchemaError:
            counts["not allowed"] = len(valid)
            return counts, [f"{instance.description} is valid, and the schema said to be empty" for instance in valid]
        except (structgen.SchemaError, structgen.LimitExceededError):
            counts.update({"refused": 1, "of refused schemas": len(valid)})
            return counts, []
    faults = []
    for instance in case.instances:
        is_allowed = reader.allows(constraint, instance.data)
        counts["allowed"] += is_allowed and instance.is_valid
        if is_allowed != instance.is_valid:
            counts["let through" if is_allowed else "not allowed"] += 1
            faults.append(f"{instance.description} is {'let through' if is_allowed else 'not allowed'}")
    return counts, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tokenizers", nargs="+", metavar="FOLDER", help="folders of tokenizers")
    parser.add_argument("--first", type=int, help="so many schemas; all by default")
    arguments = parser.parse_args()
    if not real_files():
        print(NO_DATA)
        return 2
    totals = {folder: sweep(folder, arguments.first) for folder in arguments.tokenizers}
    print(f"\n| tokenizer | {' | '.join(KINDS)} |\n|---|{'---:|' * len(KINDS)}")
    for folder, counts in totals.items():
        print(f"| {pathlib.Path(folder).name} | {' | '.join(str(counts[kind]) for kind in KINDS)} |")
    return int(any(counts["let through"] for counts in totals.values()))


def sweep(folder: str, first: int | None) -> collections.Counter[str]:
    """All schemas under one tokenizer."""
    reader = Reader(folder)
    begin = time.monotonic()
    total: collections.Counter[str] = collections.Counter()
    for path in real_files()[:first]:
        counts, faults = examine(real_case(path), reader)
        total.update(counts)
        for fault in faults:
            print(f"{path.stem} ({reader_name(folder)}): {fault}", flush=True)
    print(f"{reader_name(folder)}: {time.monotonic() - begin:.0f} seconds", flush=True)
    return total


def reader_name(folder: str) -> str:
    return pathlib.Path(folder).name


if __name__ == "__main__":
    sys.exit(main())
