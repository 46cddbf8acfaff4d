"""The code that all servers share: their settings, the reading of requests, and a sequence of tokens that never raises.

The modules, in the order of a request's way:

    settings    options and limits, from the environment
    requests    a request's text → what `structgen.compile` takes
    compiling   a request → a compiled constraint, with its first mask
    sequence    the state of one sequence; a limit that is passed ends this sequence only

Engines differ in their interfaces only; `structgen.integrations.vllm` and `sglang` translate these.
"""
