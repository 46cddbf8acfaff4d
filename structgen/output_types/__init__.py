"""What a caller can ask for besides a type or a JSON Schema: Grammar, Template, JsonLines, SubstringOf."""
