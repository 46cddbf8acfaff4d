"""Runs vLLM in this process, and prints what came out as a line of JSON. One run in one process:

    python engine.py MODEL RUN [v2]

`v2` takes the model runner V2, whose kernels run in Triton's interpreter where there is no GPU.
"""

from __future__ import annotations

import json
import os
import sys
import types
from typing import Any

QUESTION = [{"role": "user", "content": "Tell me about a person, or about the number 42."}]
ANSWER_TOKENS = 120
INTERPRETED = "v2" in sys.argv  # Triton's interpreter takes a second for some tokens


def interpret_triton() -> None:
    """Let vLLM run its kernels in Triton's interpreter, which has no backend for vLLM to find on a CPU."""
    os.environ["TRITON_INTERPRET"] = "1"
    os.environ["VLLM_USE_V2_MODEL_RUNNER"] = "1"
    from triton.backends import backends
    from triton.runtime.interpreter import InterpreterBuilder

    backends["cpu"] = types.SimpleNamespace(driver=types.SimpleNamespace(is_active=lambda: True), compiler=None)
    store = InterpreterBuilder.create_masked_store

    def create_masked_store(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        mask.data = mask.data.astype(bool)
        return store(self, pointers, value, mask, *rest)

    InterpreterBuilder.create_masked_store = create_masked_store


def make(model: str, **options: Any) -> Any:
    """Return the engine, with the backend and the logits processor."""
    import structgen.vllm

    structgen.vllm.register()
    from vllm import LLM

    settings: dict[str, Any] = {
        "model": model,
        "dtype": "bfloat16",
        "enforce_eager": True,
        "max_model_len": 1024,
        "max_num_seqs": 16,
        "distributed_executor_backend": "uni",
        "structured_outputs_config": {"backend": "structgen"},
        "disable_log_stats": False,
    }
    return LLM(**{**settings, **options})


def answers(llm: Any, params: list[Any]) -> list[tuple[str, str]]:
    """Return the text and the reason to finish of each answer, n of them for each of the parameters."""
    outputs = llm.chat([QUESTION] * len(params), params, use_tqdm=False)
    return [(one.text, one.finish_reason) for output in outputs for one in output.outputs]


def structured(repeats: int, **sampling: Any) -> list[Any]:
    """Return the parameters of all kinds of requests."""
    from served_requests import REQUESTS
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    options = {"max_tokens": 40 if INTERPRETED else ANSWER_TOKENS, "temperature": 1.0, **sampling}
    return [
        SamplingParams(structured_outputs=StructuredOutputsParams(**asked), seed=seed, **options)
        for seed in range(repeats)
        for asked, _ in REQUESTS
    ]


def count(found: list[tuple[str, str]], times: int = 1) -> dict[str, Any]:
    """Return how many of the answers to `structured` ended, and the invalid ones."""
    from served_requests import REQUESTS, is_valid

    wanted = [one for _, one in REQUESTS for _ in range(times)]
    ended = [(text, wanted[at % len(wanted)]) for at, (text, reason) in enumerate(found) if reason == "stop"]
    invalid = [text for text, one in ended if not is_valid(text, one)]
    failed = [text for text, reason in found if reason not in ("stop", "length")]
    return {"answers": len(found), "ended": len(ended), "invalid": invalid, "failed": failed}


def run_backend(model: str, repeats: int) -> dict[str, Any]:
    """All kinds of requests, n answers each."""
    llm = make(model)
    times = 1 if INTERPRETED else 4
    return count(answers(llm, structured(repeats, n=times)), times)


def run_processor(model: str, repeats: int) -> dict[str, Any]:
    """The same kinds through the logits processor, as text and as objects."""
    from served_requests import REQUESTS
    from vllm import SamplingParams

    llm = make(model, logits_processors=["structgen.vllm:GrammarLogitsProcessor"])
    names = {"json": "schema"}
    asked = [{names.get(kind, kind): given for kind, given in one.items()} for one, _ in REQUESTS]
    params = [
        SamplingParams(
            extra_args={"structgen": json.dumps(one) if seed % 2 else one},
            seed=seed,
            max_tokens=40 if INTERPRETED else ANSWER_TOKENS,
            temperature=1.0,
        )
        for seed in range(repeats)
        for one in asked
    ]
    result = count(answers(llm, params))
    params = [
        SamplingParams(extra_args={"structgen": {"regex": "abc"}}, temperature=0, max_tokens=8, **more)
        for more in ({"allowed_token_ids": [70, 71]}, {"min_tokens": 6}, {"ignore_eos": True}, {})
    ]
    result["contradictions"] = answers(llm, params)
    return result


def run_speculation(model: str, repeats: int) -> dict[str, Any]:
    """Draft tokens by n-grams of the prompt."""
    speculative = {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3, "prompt_lookup_min": 1}
    llm = make(model, speculative_config=speculative)
    result = count(answers(llm, structured(repeats)))
    metrics = {metric.name: getattr(metric, "value", 0) for metric in llm.get_metrics()}
    result["drafts"] = metrics.get("vllm:spec_decode_num_draft_tokens", 0)
    result["accepted"] = metrics.get("vllm:spec_decode_num_accepted_tokens", 0)
    return result


def run_preemption(model: str, repeats: int) -> dict[str, Any]:
    """A cache too small for all requests: some are preempted, and computed again."""
    llm = make(model, block_size=32, num_gpu_blocks_override=17, max_model_len=512)
    result = count(answers(llm, structured(repeats, min_tokens=1)))
    metrics = {metric.name: getattr(metric, "value", 0) for metric in llm.get_metrics()}
    result["preemptions"] = metrics.get("vllm:num_preemptions", 0)
    return result


def run_contradictions(model: str, repeats: int) -> dict[str, Any]:
    """Requests whose own parameters contradict their grammar, and an attack; then a good one."""
    from served_requests import ATTACK
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    llm = make(model)
    asked: list[dict[str, Any]] = [
        {"allowed_token_ids": [70, 71]},
        {"min_tokens": 6},
        {"ignore_eos": True},
        {"stop_token_ids": [llm.get_tokenizer().encode("b")[0]]},
    ]
    params = [
        SamplingParams(structured_outputs=StructuredOutputsParams(regex="abc"), temperature=0, max_tokens=8, **more)
        for more in asked
    ]
    result: dict[str, Any] = {"contradictions": answers(llm, params)}
    attack = SamplingParams(structured_outputs=StructuredOutputsParams(grammar=ATTACK), max_tokens=8)
    good = structured(repeats)
    found = answers(llm, [*good, attack])
    result["attack"] = found[-1]
    return {**result, **count(found[:-1])}


def run_beams(model: str, repeats: int) -> dict[str, Any]:
    """Beam search under all kinds of requests that end soon, and a request that is refused."""
    from served_requests import REFUSED, REQUESTS, is_valid
    from vllm.sampling_params import BeamSearchParams, StructuredOutputsParams

    llm = make(model)
    asked_text = llm.get_tokenizer().apply_chat_template(QUESTION, add_generation_prompt=True, tokenize=False)
    prompt = [{"prompt_token_ids": llm.get_tokenizer().encode(asked_text, add_special_tokens=False)}]
    ends = set(llm.get_tokenizer().all_special_ids)
    found, valid = [], []
    for asked, wanted in REQUESTS[:repeats]:
        constraint = StructuredOutputsParams(**asked)
        params = BeamSearchParams(beam_width=3, max_tokens=ANSWER_TOKENS, structured_outputs=constraint)
        for beam in llm.beam_search(prompt, params, use_tqdm=False)[0].sequences:
            written = beam.tokens[len(prompt[0]["prompt_token_ids"]) :]
            text = llm.get_tokenizer().decode(written, skip_special_tokens=True)
            found.append((text, "stop" if written and written[-1] in ends else "length"))
            valid.append(is_valid(text, wanted))
    invalid = [text for (text, reason), fits in zip(found, valid) if reason == "stop" and not fits]
    refused = []
    for asked in [one for one, *_ in REFUSED][:2]:
        try:
            constraint = StructuredOutputsParams(**asked)
            llm.beam_search(prompt, BeamSearchParams(beam_width=2, max_tokens=4, structured_outputs=constraint))
        except Exception as error:
            refused.append(f"{type(error).__name__}: {error}")
    ended = sum(reason == "stop" for _, reason in found)
    return {"answers": len(found), "ended": ended, "invalid": invalid, "refused": refused}


def main() -> None:
    """Make one run, and print its result."""
    model, name, *more = sys.argv[1:]
    if INTERPRETED:
        interpret_triton()
    repeats = next((int(one) for one in more if one.isdigit()), 1)
    print("RESULT " + json.dumps(globals()[f"run_{name}"](model, repeats)), flush=True)


if __name__ == "__main__":
    main()
