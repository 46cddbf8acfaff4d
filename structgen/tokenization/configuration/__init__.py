"""The parts of a Hugging Face tokenizer, read out of its configuration.

Read `tokenizer_parts` first.
"""
