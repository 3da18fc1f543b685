"""VisualDL's own server, with its own flags, so that one visitor does not keep the others waiting.

The server that comes with it listens to one connection at a time: a browser that opens one ahead of its need,
or a check that never says anything, stops it for everybody. Here every connection has a thread, and requests
are still answered one by one, because the readers of records share what they have read.
"""

from threading import Lock

from visualdl.server.app import check_live_path, create_app
from visualdl.server.args import ParseArgs, parse_args
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header
from werkzeug.serving import run_simple

LANGUAGES = ("en", "zh")


class OneByOne:
    def __init__(self, app):
        self.app = app
        self.lock = Lock()

    def __call__(self, environ, start_response):
        # A page for a visitor of neither language would be an error.
        asked = parse_accept_header(environ.get("HTTP_ACCEPT_LANGUAGE", ""), LanguageAccept)
        if asked.best_match(LANGUAGES) is None:
            environ["HTTP_ACCEPT_LANGUAGE"] = LANGUAGES[0]
        if environ.get("PATH_INFO") == check_live_path:
            return self.app(environ, start_response)
        with self.lock:
            answer = self.app(environ, start_response)
            try:
                return list(answer)
            finally:
                if hasattr(answer, "close"):
                    answer.close()


def main():
    args = ParseArgs(**parse_args())
    run_simple(args.host, args.port, OneByOne(create_app(args)), threaded=True)


if __name__ == "__main__":
    main()
