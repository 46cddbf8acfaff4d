"""All that a matcher of a small language allows."""

import structgen

__all__ = ["BYTES", "sequences", "texts_of"]

BYTES = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256])


def sequences(matcher, ends, most):
    """All token sequences to the end; asserts that none is stuck. None if there are too many."""
    found, waiting = [], [()]
    while waiting:
        ids = waiting.pop()
        place = matcher.fork()
        for token in ids:
            place.accept_token(token)
        allowed = place.allowed_token_ids()
        assert allowed, f"stuck behind {ids}"
        found += [ids for token in allowed if token in ends]
        waiting += [(*ids, token) for token in allowed if token not in ends]
        if len(found) + len(waiting) > most:
            return None
    return found


def texts_of(constraint, most=1500):
    """All texts that are reached so."""
    vocabulary = constraint.vocabulary
    found = sequences(constraint.matcher(), set(vocabulary.eos_token_ids), most)
    if found is None:
        return None
    return {b"".join(vocabulary.token_bytes(token) for token in ids).decode() for ids in found}
