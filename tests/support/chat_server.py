"""A server with OpenAI's interface on loopback, which answers with a local model."""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.server_requests import OWNERS, asked_by, check_request

import structgen

__all__ = ["ChatServer", "serve"]


class ChatServer(ThreadingHTTPServer):
    """Answers requests of chats: with texts of a queue, or with what the tiny model says under the schema it is sent.

    Attributes:
        requests: their bodies.
        answers: texts that come first.
        schema: what answers are made by, where that is not what was sent.
        kind: the server that it stands for; None is one that has no list of models.
        refuses: fields of requests, and of `structured_outputs`, that are answered with 400; "strict" is a schema that
            is strict.
        error: the status and the body of every answer.
        broken_stream: the error with which streams end.
        listed: how often the models were listed.
        never_ends: whether streams go on until the client is gone.
        client_is_gone: set when it is.
    """

    def __init__(self, model):
        super().__init__(("127.0.0.1", 0), Handler)
        self.model = model
        self.requests = []
        self.answers = []
        self.schema = None
        self.finish_reason = "stop"
        self.more = {}
        self.kind = None
        self.refuses = set()
        self.error = None
        self.listed = 0
        self.broken_stream = None
        self.never_ends = False
        self.client_is_gone = threading.Event()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.listed += 1
        if self.server.kind is None:
            self.send_json({"error": {"message": "no such path"}}, status=404)
            return
        card = {"id": "tiny", "object": "model", "created": 0, "owned_by": OWNERS.get(self.server.kind, "nobody")}
        self.send_json({"object": "list", "data": [card]})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        if self.server.error is not None:
            status, body = self.server.error
            self.send_json(body, status=status)
            return
        asked = {*request, *request.get("structured_outputs", {}), *("tool" for _ in request.get("tools", ()))}
        if request.get("response_format", {}).get("json_schema", {}).get("strict"):
            asked.add("strict")
        if refused := sorted(asked & self.server.refuses):
            self.send_json({"error": {"message": f"cannot compile {refused[0]}"}}, status=400)
            return
        if self.server.kind is not None:
            try:
                check_request(self.server.kind, request)
            except ValueError as error:
                self.send_json({"error": {"message": str(error)}}, status=422)
                return
        if request["model"] == "broken":
            self.send_json({"error": {"message": "no such model"}}, status=404)
            return
        text = self.server.answers.pop(0) if self.server.answers else self.generate(request)
        usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
        message = {"role": "assistant", "content": text, **self.server.more}
        is_call = "tools" in request
        if is_call:
            call = {"id": "c", "type": "custom", "custom": {"name": "answer", "input": text}}
            message |= {"content": None, "tool_calls": [call]}
        choice = {"index": 0, "finish_reason": self.server.finish_reason}
        common = {"id": "x", "created": 0, "model": request["model"]}
        if request.get("logprobs"):
            tokens = [text[start : start + 2] for start in range(0, len(text), 2)]
            content = [{"token": one, "logprob": -0.1, "bytes": [*one.encode()], "top_logprobs": []} for one in tokens]
            choice["logprobs"] = {"content": content, "refusal": None}
        if not request.get("stream"):
            choices = [{**choice, "message": message}]
            self.send_json({**common, "object": "chat.completion", "choices": choices, "usage": usage})
            return
        pieces = [text[start : start + 3] for start in range(0, len(text), 3)]
        deltas = [{"content": piece} for piece in pieces]
        if is_call:
            calls = [{"index": 0, "type": "custom", "custom": {"input": piece}} for piece in pieces]
            deltas = [{"tool_calls": [one]} for one in calls]
        chunks = [{"index": 0, "finish_reason": None, "delta": delta} for delta in deltas]
        chunks.append({**choice, "delta": {**self.server.more}})
        events = [{**common, "object": "chat.completion.chunk", "choices": [chunk]} for chunk in chunks]
        if self.server.never_ends:
            self.send_without_end(f"data: {json.dumps(events[0])}\n\n".encode())
            return
        events.append({**common, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        if self.server.broken_stream is not None:
            events = [*events[:1], {"error": self.server.broken_stream}]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.send_body(body.encode(), "text/event-stream")

    def generate(self, request):
        schema = self.server.schema or asked_by(self.server.kind, request)
        options = {"temperature": request["temperature"] or 1.0, "seed": request.get("seed", 0)}
        generator = structgen.Generator(self.server.model, schema, max_new_tokens=400, **options)
        return generator.run("hi").text

    def send_json(self, value, status=200):
        self.send_body(json.dumps(value).encode(), "application/json", status)

    def send_body(self, body, kind, status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_without_end(self, piece):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while True:
                self.wfile.write(piece)
                time.sleep(0.002)
        except OSError:
            self.server.client_is_gone.set()

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def serve(model):
    """A server at a port of its own, until the block ends."""
    server = ChatServer(model)
    thread = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)  # seconds until it sees its end
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
