"""A web server on this machine, in place of the network, that can fail in every way."""

import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


class Faulty(SimpleHTTPRequestHandler):
    """Serves a folder; below /hanging/ it never answers, below /half/ it stops half-way."""

    released: threading.Event

    def do_GET(self) -> None:
        if self.path.startswith("/hanging/"):
            self.released.wait(60)
            self.close_connection = True
        elif self.path.startswith("/half/"):
            content = Path(self.directory, Path(self.path).name).read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path) -> Iterator[tuple[str, Path]]:
    """The server's address, and the folder that it serves."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Handler(Faulty):
        released = threading.Event()

        def __init__(self, *arguments) -> None:
            super().__init__(*arguments, directory=str(folder))

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=[0.01])
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}", folder
        Handler.released.set()
        httpd.shutdown()
        thread.join()
