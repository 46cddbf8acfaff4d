"""Runs another grammar engine in a process of its own: `engine_worker.py llguidance|xgrammar|llama.cpp`.

Speaks JSON, one message a line. First comes the vocabulary, `{"tokens": [[id, hex], …]}`, whose last token is the end;
then questions `{"grammar": text, "walks": [[token, …], …]}`, each answered by `{"error": text}` or `{"walks": […]}`. A
walk is a list of the allowed tokens before each of its tokens and after the last, as the bits of a number in hex.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable

import numpy as np

Walk = list[int]
Follow = Callable[[str, list[Walk]], list[list[str]]]


def llguidance_engine(tokens: list[bytes]) -> Follow:
    import llguidance

    class Tokens:
        eos_token_id = len(tokens) - 1
        bos_token_id = None
        special_token_ids = (len(tokens) - 1,)

        def __init__(self) -> None:
            self.tokens = [*tokens[:-1], b"<|end|>"]

        def __call__(self, text: bytes | str) -> list[int]:
            # What it forces it wants as tokens: single bytes will do.
            return [numbers[bytes([byte])] for byte in (text.encode() if isinstance(text, str) else text)]

    numbers = {text: token for token, text in enumerate(tokens)}
    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()))

    only_end = (1 << len(tokens) - 1).to_bytes((len(tokens) + 7) // 8, "little").hex()

    def follow(grammar: str, walks: list[Walk]) -> list[list[str]]:
        # It would else allow those tokens alone, of a text that is forced, that its tokenizer makes of it.
        text = llguidance.LLMatcher.grammar_from_lark('%llguidance { "no_forcing": true }\n' + grammar)
        found = []
        for walk in walks:
            matcher = llguidance.LLMatcher(tokenizer, text, log_level=0)
            if matcher.is_error():
                raise ValueError(matcher.get_error())
            steps = []
            for token in [*walk, None]:
                if matcher.is_stopped():
                    if matcher.is_error():
                        raise ValueError(matcher.get_error())
                    steps.append(only_end)
                    continue
                steps.append(matcher.compute_bitmask().hex())
                if token is not None and not matcher.consume_token(token):
                    break
            found.append(steps)
        return found

    return follow


def xgrammar_engine(tokens: list[bytes]) -> Follow:
    import xgrammar

    info = xgrammar.TokenizerInfo(tokens, xgrammar.VocabType.RAW, stop_token_ids=[len(tokens) - 1])
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
    mask = xgrammar.allocate_token_bitmask(1, len(tokens))

    def follow(grammar: str, walks: list[Walk]) -> list[list[str]]:
        compiled = compiler.compile_grammar(grammar)
        found = []
        for walk in walks:
            matcher = xgrammar.GrammarMatcher(compiled)
            steps = []
            for token in [*walk, None]:
                mask.fill_(-1)  # it is left as it is where all is allowed
                matcher.fill_next_token_bitmask(mask)
                steps.append(mask.numpy().tobytes().hex())
                if token is not None and not matcher.accept_token(token):
                    break
            found.append(steps)
        return found

    return follow


def llama_cpp_engine(tokens: list[bytes]) -> Follow:
    import ctypes

    import gguf
    import llama_cpp

    # SentencePiece's pieces: a byte of its own is <0xHH>, and all else is UTF-8.
    path = os.path.join(tempfile.mkdtemp(), "vocabulary.gguf")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list([f"<0x{text[0]:02X}>" if len(text) == 1 else text for text in tokens[:-1]] + ["</s>"])
    kinds = [gguf.TokenType.BYTE if len(text) == 1 else gguf.TokenType.NORMAL for text in tokens[:-1]]
    writer.add_token_types([*kinds, gguf.TokenType.CONTROL])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_eos_token_id(len(tokens) - 1)
    writer.add_bos_token_id(len(tokens) - 1)
    writer.add_unk_token_id(len(tokens) - 1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
    llama_cpp.llama_log_set(silent, ctypes.c_void_p(0))
    parameters = llama_cpp.llama_model_default_params()
    parameters.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(path.encode(), parameters)
    vocabulary = llama_cpp.llama_model_get_vocab(model)
    candidates = (llama_cpp.llama_token_data * len(tokens))()
    array = llama_cpp.llama_token_data_array(candidates, len(tokens), -1, False)

    def allowed(sampler: object) -> str:
        for token in range(len(tokens)):
            candidates[token] = llama_cpp.llama_token_data(token, 0.0, 0.0)
        array.size = len(tokens)
        llama_cpp.llama_sampler_apply(sampler, ctypes.byref(array))
        bits = np.array([candidates[token].logit == 0.0 for token in range(len(tokens))])
        return np.packbits(bits, bitorder="little").tobytes().hex()

    def follow(grammar: str, walks: list[Walk]) -> list[list[str]]:
        found = []
        for walk in walks:
            sampler = llama_cpp.llama_sampler_init_grammar(vocabulary, grammar.encode(), b"root")
            if not sampler:
                raise ValueError("llama.cpp does not read the grammar")
            steps = []
            for token in [*walk, None]:
                steps.append(allowed(sampler))
                if token is not None:
                    if not int(steps[-1][2 * (token >> 3) : 2 * (token >> 3) + 2], 16) >> (token & 7) & 1:
                        break
                    llama_cpp.llama_sampler_accept(sampler, token)
            llama_cpp.llama_sampler_free(sampler)
            found.append(steps)
        return found

    follow.kept = (silent, model)  # as long as it is called
    return follow


ENGINES = {"llguidance": llguidance_engine, "xgrammar": xgrammar_engine, "llama.cpp": llama_cpp_engine}


def main() -> None:
    pairs = json.loads(sys.stdin.readline())["tokens"]
    follow = ENGINES[sys.argv[1]]([bytes.fromhex(text) for _, text in sorted(pairs)])
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"walks": follow(question["grammar"], question["walks"])}
        except BaseException as error:  # a panic of Rust is no Exception
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
