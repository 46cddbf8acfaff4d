"""`structgen serve`: a model behind OpenAI's interface, over HTTP. Needs `pip install 'structgen-llm[serve]'`.

problems      errors of requests, in OpenAI's form
constraints   response_format, structured_outputs, guided_*, grammar → a schema or a grammar
requests      the body of a request → what to run
answers       runs in the scheduler's threads → pieces of text, reasoning and calls, and a whole answer
chat          /v1/chat/completions
completions   /v1/completions
responses     /v1/responses
playground    the page at /
logprobs      log-probabilities of tokens, in OpenAI's form
metrics       /metrics, in the text format of Prometheus
app           routes, the API key, bounds of bodies; starlette
server        the process: uvicorn, signals
"""
