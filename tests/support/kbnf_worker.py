"""Runs the published `kbnf` engine in a process of its own, as it can hang, abort or print at any time.

Speaks JSON, one message a line. First comes the vocabulary, `{"tokens": [[id, hex], …]}`; then questions
`{"grammar": text, "walks": [[token, …], …]}`, each answered by `{"error": text}` or `{"walks": […]}`, where a walk is a
list of `[allowed tokens, as the bits of a number in hex; what accepting the next token gave]`.
"""

from __future__ import annotations

import json
import sys

for name in ("torch", "jax", "triton", "numpy"):  # kbnf imports them where they are: seconds that nobody needs here
    sys.modules[name] = None

import kbnf  # noqa: E402


def bits(token_ids: list[int], size: int) -> str:
    packed = bytearray((size + 7) // 8)
    for token in token_ids:
        packed[token >> 3] |= 1 << (token & 7)
    return packed.hex()


def plain_config() -> kbnf.Config:
    """No cache: with it, sets of different futures are taken for one in ambiguous grammars, and masks are wrong."""
    config = kbnf.Config()
    options = config.engine_config
    options.cache_enabled = False
    config.engine_config = options
    return config


def follow(engine: kbnf.Engine, walk: list[int], size: int) -> list[list[str]]:
    steps = []
    for token in [*walk, None]:
        engine.compute_allowed_token_ids()
        allowed = bits(engine.get_allowed_token_ids_from_last_computation(), size)
        result = "" if token is None else _accept(engine, token)
        steps.append([allowed, result])
        if token is None or not result.startswith("Ongoing"):
            break
    return steps


def _accept(engine: kbnf.Engine, token: int) -> str:
    try:
        return str(engine.try_accept_new_token(token)).removeprefix("AcceptTokenResult.")
    except ValueError as error:
        return f"rejected: {error}"


def answer(question: dict, vocabulary: kbnf.Vocabulary, size: int) -> dict:
    try:
        engine = kbnf.Engine(question["grammar"], vocabulary, plain_config())
        walks = []
        for walk in question["walks"]:
            walks.append(follow(engine, walk, size))
            engine.reset()
        return {"walks": walks}
    except BaseException as error:  # a panic of Rust is no Exception
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def main() -> None:
    tokens = {token: bytes.fromhex(text) for token, text in json.loads(sys.stdin.readline())["tokens"]}
    vocabulary = kbnf.Vocabulary(
        {token: kbnf.Token(text) for token, text in tokens.items()},
        {token: text.decode("utf-8", "replace") for token, text in tokens.items()},
    )
    size = max(tokens) + 1
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), vocabulary, size)), flush=True)


if __name__ == "__main__":
    main()
