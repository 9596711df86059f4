"""A web server on the loopback interface, whose pages, redirects and failures a test chooses."""

import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """A server whose pages are texts, redirects and failures by path."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.redirects: dict[str, str] = {}
        self.failures: Counter[str] = Counter()
        self.delay = 0.0
        self.fetched: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.fetched.append(self.path)
                time.sleep(site.delay)
                body = site.pages.get(self.path, site.pages.get(self.path.partition("?")[0], ""))
                status = 200 if body else 404
                if self.path in site.redirects:
                    status, body = 301, ""
                if site.failures[self.path] > 0:
                    site.failures[self.path] -= 1
                    status, body = 503, ""
                self.send_response(status)
                if status == 301:
                    self.send_header("Location", site.redirects[self.path])
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def links(self, path: str, *targets: str, rel: str = "") -> None:
        self.pages[path] = "".join(f'<a href="{target}" rel="{rel}">{target}</a>' for target in targets)

    def count(self, path: str) -> int:
        return self.fetched.count(path)
