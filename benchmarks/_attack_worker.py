"""One attack in a process of its own; prints what it cost as JSON. Called by `attacks.py` and by a test."""

from __future__ import annotations

import gc
import json
import resource
import sys
import threading
import time
from typing import Any

from _attack_cases import ATTACKS, Attack

import structgen
from structgen.engine.memory import resident_bytes

GIL_STEP = 0.001  # seconds that the watching thread sleeps


class GilWatch(threading.Thread):
    """Finds the longest time that this thread could not run, in seconds."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest = 0.0

    def run(self) -> None:
        before = time.monotonic()
        while True:
            time.sleep(GIL_STEP)
            now = time.monotonic()
            self.longest = max(self.longest, now - before)
            before = now


def peak_bytes() -> int:
    """Return the largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def byte_vocabulary() -> structgen.Vocabulary:
    """Return a small vocabulary, quickly made."""
    tokens = {byte: bytes([byte]) for byte in range(256)}
    return structgen.Vocabulary.from_bytes(tokens | {256: b""}, eos_token_ids=[256])


def smollm2_vocabulary() -> structgen.Vocabulary:
    """Return the vocabulary of a model: 49,152 tokens."""
    from _peers import load_tokenizer

    return structgen.Vocabulary.from_huggingface(load_tokenizer())


def run(attack: Attack, size: int, vocabulary: structgen.Vocabulary, limits: structgen.Limits) -> dict[str, Any]:
    """Return what an attack costs: seconds of each step, errors, memory."""
    structgen.compile({"type": ["array", "object", "string", "number"]}, vocabulary, limits=limits)  # imports modules
    made = attack.make(size)
    schema = made if attack.kind == "schema" else getattr(structgen.Grammar, attack.kind)
    peak = peak_bytes()
    watch = GilWatch()
    watch.start()
    time.sleep(0.05)
    watch.longest = 0.0
    steps: dict[str, Any] = {}
    errors: list[str] = []

    def timed(name: str, work: Any) -> Any:
        began = time.monotonic()
        try:
            return work()
        except structgen.StructgenError as error:
            found = getattr(error, "limit", None) or type(error).__name__
            errors.append(found)
            steps[f"{name} error"] = found
            return None
        finally:
            steps[name] = round(time.monotonic() - began, 3)

    def compiled() -> Any:
        given = schema if attack.kind == "schema" else schema(made)
        return structgen.compile(given, vocabulary, limits=limits, **dict(attack.options))

    constraint = timed("compile", compiled)
    if constraint is not None:
        matcher = constraint.matcher()
        timed("mask", matcher.allowed_token_ids)
        timed("accept", lambda: matcher.accept_bytes(attack.text))
        timed("mask 2", matcher.allowed_token_ids)
        del matcher
    del constraint
    structgen.clear_cache()
    time.sleep(10 * GIL_STEP)  # the thread that watches notes the last wait
    longest = watch.longest
    gc.collect()  # a full collection of Python's, which is not part of the attack
    structgen.compile(
        {"type": "null"}, vocabulary, limits=limits
    )  # after a limit, it returns free memory to the system
    return {
        "steps": steps,
        "errors": errors,
        "gil": round(longest, 3),
        "before_mb": peak >> 20,
        "peak_mb": peak_bytes() >> 20,
        "after_mb": resident_bytes(0) >> 20,
    }


def main() -> None:
    """Run the attack that the arguments name: its number, its size, a vocabulary, and limits as JSON."""
    number, size, vocabulary, limits = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
    attack = ATTACKS[number]
    tokens = byte_vocabulary() if vocabulary == "bytes" else smollm2_vocabulary()
    print(json.dumps(run(attack, size or attack.size, tokens, structgen.Limits(**limits))))


if __name__ == "__main__":
    main()
