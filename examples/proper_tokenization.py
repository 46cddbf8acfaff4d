"""Exact probabilities of two words: without masks, with masks that allow any split, and with proper tokenization.

In each experiment the model prefers the first word. A mask that allows any split of a text also allows the token
` The`, as the beginning of ` Theodore`. The model gives ` The` a high probability because it means the article. After
it only ` Theodore` is possible. So masks that allow any split change the probabilities.

This example samples nothing. It follows all token sequences that the masks allow to their ends, except those with a
probability below 0.0001.

    python examples/proper_tokenization.py                    # a table with bars
    python examples/proper_tokenization.py picture.svg        # also a plot; needs matplotlib
"""

import sys

import numpy as np

import structgen

EXPERIMENTS = [
    ("My favourite poet is", "William", "Theodore"),
    ("The capital of France is", "Paris", "Inverness"),
    ("The colour of the clear sky is", "blue", "another"),
    ("Water freezes in the", "winter", "theatre"),
    ("He plays the", "guitar", "assembly"),
    ("She drinks a cup of", "coffee", "international"),
]
NEGLIGIBLE = 1e-4  # token sequences below this probability are not followed


def probabilities(model, prompt_ids, constraint):
    """Return the probability of each token sequence under a constraint: {token ids: probability}."""
    mask = structgen.allocate_token_bitmask(1, constraint.vocabulary.size)
    batch = model.session_batch()
    found = {}
    waiting = [(batch.session(), prompt_ids, (), 1.0)]  # a row of the batch, what it has not read, its answer so far
    while waiting:
        choices = []
        for row, unread, token_ids, probability in waiting:
            matcher = constraint.matcher(prompt_ids)
            for token_id in token_ids:
                matcher.accept_token(token_id)
            # Where the model has no choice, no pass is needed.
            while not matcher.is_terminated and len(allowed := matcher.allowed_token_ids()) == 1:
                matcher.accept_token(allowed[0])
                token_ids, unread = (*token_ids, *allowed), [*unread, *allowed]
            if matcher.is_terminated:
                found[token_ids] = probability
            else:
                choices.append((matcher, row, unread, token_ids, probability))
        # The model reads all sequences of a length in one pass.
        all_logits = batch.forward([(row, unread, 1) for _, row, unread, _, _ in choices]) if choices else []
        waiting = []
        for (matcher, row, _, token_ids, probability), logits in zip(choices, all_logits, strict=True):
            matcher.fill_next_token_bitmask(mask)
            structgen.apply_token_bitmask(logits, mask)
            shares = np.exp(logits[0] - logits[0].max())
            shares *= probability / shares.sum()
            likely = np.flatnonzero(shares > NEGLIGIBLE).tolist()
            rows = [row, *batch.fork([row] * (len(likely) - 1))] if likely else []
            waiting += [(row, [token], (*token_ids, token), float(shares[token])) for row, token in zip(rows, likely)]
    return found


def of_word(found, model, word):
    """Return the probability of a word: the sum over all its token sequences."""
    spelled = (b"".join(model.vocabulary.token_bytes(t) for t in tokens).decode().strip() == word for tokens in found)
    return sum(probability for probability, is_it in zip(found.values(), spelled, strict=True) if is_it)


def unconstrained(model, prompt_ids, words):
    """Return the share of the first word without masks, each word as the tokenizer splits it."""
    likely = []
    for word in words:
        tokens = model.encode_text(f" {word}")
        logits = model.session().forward([*prompt_ids, *tokens[:-1]], keep=len(tokens)).astype(np.float64)
        logs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        likely.append(np.exp(sum(logs[at, token] for at, token in enumerate(tokens))))
    return likely[0] / sum(likely)


def bar(share):
    return "#" * round(30 * share)


def plot(shares, path):
    """Draw the probability of the first word; shares: for each kind the values, in the order of EXPERIMENTS."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    places = np.arange(len(EXPERIMENTS))
    for number, (kind, values) in enumerate(shares.items()):
        axes.bar(places + 0.27 * (number - 1), values, 0.25, label=kind)
    axes.set_xticks(places, [f"{first}\nor {second}" for _, first, second in EXPERIMENTS])
    axes.set_ylabel("probability of the first")
    figure.legend(loc="outside upper center", ncols=3)
    figure.savefig(path)


model = structgen.load("smollm2")
shares = {"unconstrained": [], "any": [], "proper": []}
for prompt, *words in EXPERIMENTS:
    prompt_ids = model.encode_prompt(prompt, raw=True)
    grammar = structgen.Grammar.regex("|".join(f" {word}" for word in words))
    print(f"{prompt} … P({words[0]}), not {words[1]}")
    share = unconstrained(model, prompt_ids, words)
    shares["unconstrained"].append(share)
    print(f"  unconstrained {share:.4f} {bar(share)}")
    for tokenization in ("any", "proper"):
        constraint = structgen.compile(grammar, model.vocabulary, tokenization=tokenization)
        found = probabilities(model, prompt_ids, constraint)
        share = of_word(found, model, words[0])
        shares[tokenization].append(share)
        print(f"  {tokenization:13} {share:.4f} {bar(share)}")
if len(sys.argv) > 1 and sys.argv[1].endswith((".svg", ".png")):
    plot(shares, sys.argv[1])
