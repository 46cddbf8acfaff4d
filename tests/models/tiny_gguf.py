"""Tiny GGUF files with random weights, for features that the embedded model lacks.

They have a SentencePiece vocabulary, a token that begins a text, tokens of every kind, sliding windows, and recurrent
states.
"""

import numpy as np
from gguf import GGUFWriter, TokenType

WIDTH = 32
LAYERS = 2
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'tool' %}{{ raise_exception('no tools') }}{% endif %}"
    "[{{ m['role'] }}]{{ m['content'] }}{{ eos_token }}{% endfor %}[assistant]"
)
LONG = "=" * 100  # longer than a piece usually is
TOKENS = [
    ("<unk>", TokenType.UNKNOWN),
    ("<s>", TokenType.CONTROL),
    ("</s>", TokenType.CONTROL),
    *((f"<0x{byte:02X}>", TokenType.BYTE) for byte in range(256)),
    *((piece, TokenType.NORMAL) for piece in ("▁", '{"', "▁a", "▁34", '":', "na", "me", "name", "▁name", "ame")),
    *((chr(code), TokenType.NORMAL) for code in range(0x21, 0x7F)),
    (LONG, TokenType.USER_DEFINED),
    ("<spare>", TokenType.UNUSED),
]
BOS, EOS = 1, 2


WINDOW = 8
ATTENTION = {
    "attn_norm.weight": (WIDTH,),
    "attn_q.weight": (WIDTH, WIDTH),
    "attn_k.weight": (WIDTH // 2, WIDTH),
    "attn_v.weight": (WIDTH // 2, WIDTH),
    "attn_output.weight": (WIDTH, WIDTH),
    "ffn_norm.weight": (WIDTH,),
    "ffn_gate.weight": (WIDTH, WIDTH),
    "ffn_up.weight": (WIDTH, WIDTH),
    "ffn_down.weight": (WIDTH, WIDTH),
}


def write_llama(path):
    """A Llama, with a chat template."""
    writer = GGUFWriter(path, "llama")
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_rope_dimension_count(WIDTH // 2)
    writer.add_chat_template(CHAT_TEMPLATE)
    return _write(writer, path, ATTENTION)


def write_gemma(path):
    """A model whose first layer has a sliding window."""
    writer = GGUFWriter(path, "gemma2")
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_key_length(WIDTH // 2)
    writer.add_value_length(WIDTH // 2)
    writer.add_sliding_window(WINDOW)
    return _write(writer, path, ATTENTION | {f"post_{name}_norm.weight": (WIDTH,) for name in ("attention", "ffw")})


def write_mamba(path):
    """A recurrent model, without a chat template."""
    inner, states, rank, kernel = 2 * WIDTH, 4, 2, 4
    writer = GGUFWriter(path, "mamba")
    writer.add_head_count(0)
    writer.add_ssm_conv_kernel(kernel)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(states)
    writer.add_ssm_time_step_rank(rank)
    layer = {
        "attn_norm.weight": (WIDTH,),
        "ssm_in.weight": (2 * inner, WIDTH),
        "ssm_conv1d.weight": (inner, kernel),
        "ssm_conv1d.bias": (inner,),
        "ssm_x.weight": (rank + 2 * states, inner),
        "ssm_dt.weight": (inner, rank),
        "ssm_dt.bias": (inner,),
        "ssm_a": (inner, states),
        "ssm_d": (inner,),
        "ssm_out.weight": (WIDTH, inner),
    }
    return _write(writer, path, layer)


def _write(writer, path, layer):
    writer.add_context_length(1024)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([piece for piece, _ in TOKENS])
    writer.add_token_types([kind for _, kind in TOKENS])
    writer.add_token_scores([-1e3 if kind == TokenType.BYTE else float(len(piece)) for piece, kind in TOKENS])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(BOS)
    writer.add_eos_token_id(EOS)
    writer.add_add_bos_token(True)
    random = np.random.default_rng(0)
    shapes = {"token_embd.weight": (len(TOKENS), WIDTH), "output_norm.weight": (WIDTH,)}
    shapes |= {f"blk.{index}.{name}": shape for index in range(LAYERS) for name, shape in layer.items()}
    for name, shape in shapes.items():
        # A state that grew would end in infinities: what a state keeps of itself is exp(a), with a below 0.
        values = -random.random(shape) if name.endswith("ssm_a") else random.normal(0, 0.3, shape)
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(path)
