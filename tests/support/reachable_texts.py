"""All texts of a small language, as a matcher reaches them."""

import structgen

__all__ = ["BYTES", "texts_of"]

BYTES = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256])
MOST = 1500


def texts_of(constraint):
    """All texts that are reached token by token; asserts that none is stuck. None if there are too many."""
    vocabulary = constraint.vocabulary
    ends = set(vocabulary.eos_token_ids)
    found, waiting = set(), [()]
    while waiting:
        ids = waiting.pop()
        matcher = constraint.matcher()
        for token in ids:
            matcher.accept_token(token)
        allowed = matcher.allowed_token_ids()
        assert allowed, f"stuck behind {ids}"
        if ends & set(allowed):
            found.add(b"".join(vocabulary.token_bytes(token) for token in ids).decode())
        waiting += [(*ids, token) for token in allowed if token not in ends]
        if len(found) + len(waiting) > MOST:
            return None
    return found
