"""Adapters of model libraries, and the protocols in `base` that they fulfil.

A model knows tokens and logits. It knows no schema and no run.
"""
