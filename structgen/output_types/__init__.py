"""Output types besides Python types and JSON Schemas: Grammar, Template, JsonLines, SubstringOf."""
