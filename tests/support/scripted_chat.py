"""A model that says what a test wants, with the chat template of a family; characters are tokens, and so are marks."""

from __future__ import annotations

import json
import re

import jinja2
import numpy as np

import structgen

__all__ = ["TEMPLATES", "ScriptedChat"]

END = 256

_CALLS_AS_JSON = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}BEGIN{{ c.function.arguments | tojson }}FINISH{% endfor %}"
    "{% endfor %}[assistant]"
)


def _template(tools: str, begin: str, finish: str) -> str:
    return tools + _CALLS_AS_JSON.replace("BEGIN", begin).replace("FINISH", finish)


_TOOLS = "{% if tools %}{{ tools | tojson }}{% endif %}"

# Short templates with the tell-tale parts of the families' own.
TEMPLATES = {
    "none": "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]",
    "hermes": _template(_TOOLS, '<tool_call>\n{"name": "{{ c.function.name }}", "arguments": ', "}\n</tool_call>"),
    # One call a message, and its arguments as text; as Llama's.
    "llama": _TOOLS + "{% for m in messages %}{% if m.tool_calls %}{% if m.tool_calls | length != 1 %}"
    '{{ raise_exception("This model only supports single tool-calls at once!") }}{% endif %}'
    '<|python_tag|>{"name": "{{ m.tool_calls[0].function.name }}", "parameters": '
    '{{ m.tool_calls[0].function.arguments + "" }}}{% else %}[{{ m.role }}]{{ m.content }}{% endif %}{% endfor %}'
    "[assistant]",
    "mistral": _TOOLS + "{% for m in messages %}{% for c in m.tool_calls or [] %}{% if c.id | length != 9 %}"
    '{{ raise_exception("Tool call IDs should be alphanumeric strings with length 9!") }}{% endif %}'
    '[TOOL_CALLS][{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}]'
    "{% else %}[{{ m.role }}]{{ m.content }}{% endfor %}{% endfor %}[assistant]",
    # Calls are not written; as Granite 3's.
    "granite_3": _TOOLS + "<|tool_call|>{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]",
    # Tools are not written; as DeepSeek V3.1's.
    "deepseek_v3_1": _template("", "<｜tool▁call▁begin｜>{{ c.function.name }}<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
    "muse_glimmer": _TOOLS
    + "{% for m in messages %}[{{ m.role }}]{{ m.content or '' }}{% for c in m.tool_calls or [] %}"
    "<|start|>assistant to={{ c.function.name }}<|message|><atem:function_calls>{{ c.function.arguments | tojson }}"
    "{% endfor %}{% endfor %}{# to=self<|message|> <|eom|> #}<|start|>assistant",
    "harmony": _template(
        _TOOLS, "<|start|>assistant to=functions.{{ c.function.name }}<|channel|>commentary json<|message|>", "<|call|>"
    ).replace("[assistant]", "<|start|>assistant<|channel|>analysis<|end|>"[:18]),
}


class ScriptedChat:
    """A model that says texts, one a reply.

    Args:
        template: the name of its chat template in `TEMPLATES`, or None.
        said: the texts; the names of special tokens in them are these tokens.
        special: the names of special tokens, which have no text.
        ends: those of them that end the turn.
        after: what is written after the prompt, before the text.
    """

    context_tokens = None
    can_crop = True

    def __init__(self, template, said, special=(), ends=(), after=""):
        names = {name: END + 1 + index for index, name in enumerate(special)}
        self.vocabulary = structgen.Vocabulary.from_bytes(
            {byte: bytes([byte]) for byte in range(256)},
            [END, *(names[name] for name in ends)],
            END + 1 + len(names),
            special_tokens=names,
        )
        self._names = names
        self._pattern = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))) or "(?!)")
        self.chat_template = None if template is None else TEMPLATES[template]
        self.said = list(said)
        self.after = after
        self.prompt_tokens = 0
        self.prompts = []

    def encode_text(self, text):
        found, at = [], 0
        for match in self._pattern.finditer(text):
            found += [*text[at : match.start()].encode(), self._names[match.group()]]
            at = match.end()
        return found + list(text[at:].encode())

    def encode_prompt(self, prompt, *, raw=False, **template):
        if raw:
            text = prompt
        else:
            environment = jinja2.Environment()
            environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
            environment.globals["raise_exception"] = _raise
            messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
            text = environment.from_string(self.chat_template).render(messages=messages, **template)
        self.prompts.append(text)
        self.prompt_tokens = len(self.encode_text(text + self.after))
        return self.encode_text(text)

    def session(self):
        return _Session(self, self.encode_text(self.said.pop(0)))


class _Session:
    can_crop = True

    def __init__(self, model, said):
        self.model, self.said = model, said
        self.read, self.begin = 0, model.prompt_tokens

    def forward(self, token_ids, *, keep=1):
        self.read += len(token_ids)
        logits = np.zeros((keep, self.model.vocabulary.size), np.float32)
        for row in range(keep):
            at = self.read - keep + 1 + row - self.begin
            logits[row, self.said[at] if 0 <= at < len(self.said) else END] = 9
        return logits

    def crop(self, count):
        self.read -= count


def _raise(message):
    raise jinja2.TemplateError(message)
