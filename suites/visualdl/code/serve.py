"""VisualDL's own server, with its own flags, so that one visitor does not keep the others waiting.

The server that comes with it listens to one connection at a time: a browser that opens one ahead of its need,
or a check that never says anything, stops it for everybody. Here every connection has a thread, and requests
are still answered one by one, because the readers of records share what they have read.

It also tells its tabs in the order of a set, which is another one at every start, and its page opens with the
first: mostly an empty graph. Here the curves are told first.
"""

import json
from threading import Lock

from flask import request
from visualdl.server.app import check_live_path, create_app
from visualdl.server.args import ParseArgs, parse_args
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header
from werkzeug.serving import run_simple

LANGUAGES = ("en", "zh")
TABS, CURVES = "/api/component_tabs", "scalar"


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


def curves_first(answer):
    """The list of tabs in an order that is always the same."""
    if request.path.endswith(TABS):
        told = json.loads(answer.get_data())
        told["data"] = sorted(told["data"], key=lambda tab: (tab != CURVES, tab))
        answer.set_data(json.dumps(told))
    return answer


def main():
    args = ParseArgs(**parse_args())
    app = create_app(args)
    app.after_request(curves_first)
    run_simple(args.host, args.port, OneByOne(app), threaded=True)


if __name__ == "__main__":
    main()
