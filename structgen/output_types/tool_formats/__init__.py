"""Tool calls in the formats of model families: which marks, which names, which notation of arguments.

    tools           reads tools: functions, Pydantic models, JSON Schemas in OpenAI's form or MCP's
    families        the formats that xgrammar names too, as data
    more_families   the other formats
    building        the structural tag of some tools in a format

`Grammar.tool_calls` is made of these.
"""
