"""The spelling of JSON values: regexes of strings and numbers, white space, lexemes."""
