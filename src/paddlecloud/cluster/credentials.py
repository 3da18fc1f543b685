"""How a client proves who it is and checks whom it speaks to, shared by the async and the sync client.

Tokens go into a header, keys into the TLS layer; neither is kept in a URL, an argument or a log line.
"""

from __future__ import annotations

import contextlib
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..errors import WrongUse
from .kubeconfig import Access
from .plugins import Credentials


def tls(access: Access) -> ssl.SSLContext | None:
    """The TLS settings of an access; None for a server that speaks plain HTTP."""
    if not access.server.startswith("https:"):
        return None
    try:
        context = ssl.create_default_context(cadata=access.ca)
        if access.insecure:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        pair = client_pair(access)
        if pair[0]:
            with on_disk(pair[0]) as certificate, on_disk(pair[1]) as key:
                context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        cause = error.reason or str(error)
        raise WrongUse(f"the certificates for {access.name} cannot be used: {cause}") from error
    return context


def client_pair(access: Access) -> tuple[str, str]:
    if access.plugin is None:
        return access.client_certificate, access.client_key
    given = Credentials(access.plugin).current()
    return given.certificate, given.key


@contextlib.contextmanager
def on_disk(text: str) -> Iterator[str]:
    # OpenSSL reads a client key from a file only; this one is closed to others and gone at once.
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(text)
        file.flush()
        yield file.name


class Bearer:
    """The token of an access; one kept in a file is read again when the file has changed."""

    def __init__(self, access: Access) -> None:
        self._token = access.token
        self._file = access.token_file
        self._plugin = Credentials(access.plugin) if access.plugin else None
        self._stamp: tuple[int, int] | None = None

    def headers(self) -> dict[str, str]:
        if self._plugin:
            self._token = self._plugin.current().token
        elif self._file:
            self._refresh(self._file)
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    def _refresh(self, file: Path) -> None:
        try:
            found = file.stat()
            stamp = (found.st_mtime_ns, found.st_ino)
            if stamp != self._stamp:
                self._token, self._stamp = file.read_text().strip(), stamp
        except OSError as error:
            # A token that was good a moment ago may still be; without any there is no point in asking.
            if not self._token:
                raise WrongUse(f"cannot read the token in {file}: {error.strerror}") from error
