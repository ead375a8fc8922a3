"""The protocol's edges: where pygls' defaults do not fit.

Documents are kept by ``documents`` alone (pygls' own store ends lines where ``str.splitlines`` does). A request
that cannot be read is answered with an error instead of not at all; what comes before ``initialize`` or after
``shutdown`` is refused. ``exit`` ends the process at once, with the status that the specification asks for.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Generator, Iterator
from typing import Any

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
)
from pygls.protocol import JsonRPCNotification, LanguageServerProtocol, lsp_method

#: What a message that could not be read is turned into: nobody handles it.
_IGNORED = "$/loopgrad/unreadable"

_SERVER_NOT_INITIALIZED = -32002


class Protocol(LanguageServerProtocol):
    """pygls' protocol with its document store left out and its edges closed."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        if "jsonrpc" not in data:
            return data
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            self._refuse(data.get("id"), data.get("method"), JsonRpcInvalidParams(str(error)))
        except Exception as error:
            self._refuse(data.get("id"), data.get("method"), JsonRpcInternalError(str(error)))
        return JsonRPCNotification(method=_IGNORED, params=None, jsonrpc="2.0")

    def handle_message(self, message: Any) -> None:
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if not hasattr(message, "jsonrpc"):
            self._refuse(None, "", JsonRpcInvalidRequest("not a JSON-RPC message"))
        elif method == types.INITIALIZE and self._workspace is not None:
            self._refuse(number, method, JsonRpcInvalidRequest("already initialized"))
        elif method not in (types.INITIALIZE, types.EXIT, None) and self._workspace is None:
            error = JsonRpcException("not initialized", code=_SERVER_NOT_INITIALIZED)
            self._refuse(number, method, error)
        elif self._shutdown and number is not None and method is not None:
            self._refuse(number, method, JsonRpcInvalidRequest("shut down"))
        else:
            super().handle_message(message)

    def _refuse(self, number: Any, method: Any, error: JsonRpcException) -> None:
        """Answers a request with an error; a notification gets no answer."""
        if method is not None and isinstance(number, (int, str)):
            self._send_response(number, error=error.to_response_error())

    # Documents: only the handlers of the server -----------------------------------------------------

    def _only(self, method: str, params: Any) -> Iterator[Any]:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: Any) -> Iterator[Any]:
        yield from self._only(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: Any) -> Iterator[Any]:
        yield from self._only(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: Any) -> Iterator[Any]:
        yield from self._only(types.TEXT_DOCUMENT_DID_CLOSE, params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: Any) -> Iterator[Any]:
        yield from self._only(types.NOTEBOOK_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: Any) -> Iterator[Any]:
        yield from self._only(types.NOTEBOOK_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: Any) -> Iterator[Any]:
        yield from self._only(types.NOTEBOOK_DOCUMENT_DID_CLOSE, params)

    # The end -----------------------------------------------------------------------------------------

    @lsp_method(types.EXIT)
    def lsp_exit(self, *arguments: Any) -> Generator[Any, Any, None]:
        yield from self._only(types.EXIT, None)
        status = 0 if self._shutdown else 1
        if self.writer is not None:
            closing = self.writer.close()
            if asyncio.iscoroutine(closing):
                closing.close()
        # The thread that reads would wait for another message; the loop gets a moment to send what is left.
        sys.stderr.flush()
        asyncio.get_running_loop().call_later(0.05, os._exit, status)
