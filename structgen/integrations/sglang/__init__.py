"""SGLang: a grammar backend, `--grammar-backend structgen`.

    plugin    makes the backend known to SGLang, by the entry point `sglang.srt.plugins`
    backend   SGLang's interface of grammar backends

Each is imported by SGLang only. See docs/sglang.md.
"""
