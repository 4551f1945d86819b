"""A server of the chat protocol for tests, on a free port of this machine."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ChatServer:
    """Answers each prompt by `reply`: a text is the message of the model, a function gets the handler and may do all.

    `prompts` and `headers` have what came in.
    """

    def __init__(self, reply: Callable[[str], Any]) -> None:
        self.prompts: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.over = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.bodies.append(body)
                owner.headers.append({**self.headers, "path": self.path})
                owner.prompts.append(body["messages"][0]["content"])
                told = reply(owner.prompts[-1])
                try:
                    if callable(told):
                        told(self)
                    else:
                        message = {"role": "assistant", "content": told}
                        self.send(200, json.dumps({"choices": [{"message": message}]}).encode())
                except OSError:  # the client has gone
                    pass

            def send(self, status: int, body: bytes, **headers: str) -> None:
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "ChatServer":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


def status(code: int, message: str) -> Callable[[Any], None]:
    """Answer with an error of the protocol."""
    return lambda handler: handler.send(code, json.dumps({"error": {"message": message}}).encode())
