"""Constraints for servers: the form that each server takes, which server it is, and its errors.

`structgen.models.openai` and `structgen.models.anthropic` send the requests.
"""
