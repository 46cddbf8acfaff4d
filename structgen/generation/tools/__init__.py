"""Tool calls: how tools are described to a model, how its calls are read and run, and how their results go back.

detection      the format of a model's calls, by its chat template
notations      the arguments of a call: JSON, or XML in the notation of a family
reading        a model's text → text, reasoning and calls; writing is the reverse
literals       arguments as literals of Gemma and Python
python_calls   formats whose calls are calls of Python
special        formats that are no marks around arguments: Harmony, Kimi K3, Solar, Functionary 3.2, Python
server_replies replies of servers, which accept no grammars: an object with the text and the calls
messages       a reply in parts: text, reasoning and calls
toolbox        the tools of a run, and the validation of their arguments
conversation   messages in OpenAI's form → messages that a chat template accepts
results        `ToolReply` and `ToolCall`: what `call` returns
calling        `call` and `acall`
streaming      `stream_call`: text pieces and calls while they are written
loop           calls, results, and the final answer
tool_streams   `run_tools` and `stream_tools`: the loop's transcript, or all that happens in it
"""
