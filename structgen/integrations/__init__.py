"""Other engines: exported grammars, and the logits processors of vLLM."""
