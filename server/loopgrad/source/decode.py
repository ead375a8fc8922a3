"""Bytes to text and back, so that an unchanged text gives the very same bytes.

Python decides a file's encoding from a byte order mark or a cookie (``# -*- coding: latin-1 -*-``) in
one of the first two lines, else it is UTF-8. Newlines are not translated: the text keeps ``\\r\\n`` and
``\\r`` as they are, so that edits leave every other byte alone.
"""

from __future__ import annotations

import codecs
import io
import tokenize
from dataclasses import dataclass

from loopgrad.model import Message
from loopgrad.source.errors import SourceError

#: No training script is this large; it keeps ``loopgrad check /dev/zero`` from filling the memory.
MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Encoding:
    """How a text is stored: its codec and whether a UTF-8 byte order mark precedes it."""

    name: str = "utf-8"
    bom: bool = False

    def encode(self, path: str, text: str) -> bytes:
        try:
            data = text.encode(self.name)
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            char = text[error.start]
            message = Message.of("source.unencodable", char=char, encoding=self.name)
            raise SourceError(path, line, message) from None
        return codecs.BOM_UTF8 + data if self.bom else data


def read_bytes(path: str) -> bytes:
    """The content of a file, or a SourceError that says why there is none."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise SourceError(path, 1, Message.of("source.missing")) from None
    except IsADirectoryError:
        raise SourceError(path, 1, Message.of("source.directory")) from None
    except OSError as error:
        raise SourceError(path, 1, Message.of("source.unreadable", reason=reason_of(error))) from None
    except ValueError:  # a NUL in the path itself
        raise SourceError(path, 1, Message.of("source.missing")) from None
    if len(data) > MAX_BYTES:
        raise SourceError(path, 1, Message.of("source.too-large", limit=MAX_BYTES // 2**20))
    return data


def reason_of(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def decode(path: str, data: bytes) -> tuple[str, Encoding]:
    """The text without its byte order mark, and what restores the bytes."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError(path, 1, Message.of("source.utf16"))
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise SourceError(path, line, Message.of("source.binary"))
    bom = data.startswith(codecs.BOM_UTF8)
    name = _declared(path, data)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    try:
        text = body.decode(name)
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        message = Message.of("source.undecodable", byte=f"{body[error.start]:02x}", encoding=name)
        raise SourceError(path, line, message) from None
    except (LookupError, UnicodeError):  # "rot13 is not a text encoding"
        raise SourceError(path, 1, Message.of("source.unknown-encoding", encoding=name)) from None
    return text, Encoding(name, bom)


def _declared(path: str, data: bytes) -> str:
    """The encoding that Python would take, by its own function."""
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        text = str(error)
        if text.startswith("encoding problem"):
            raise SourceError(path, _cookie_line(data), Message.of("source.bom-conflict")) from None
        if "unknown encoding" in text:
            encoding = text.rpartition(":")[2].strip()
            message = Message.of("source.unknown-encoding", encoding=encoding)
            raise SourceError(path, _cookie_line(data), message) from None
        return "utf-8"  # its first lines do not decode: decoding all says where
    return "utf-8" if name == "utf-8-sig" else name


def _cookie_line(data: bytes) -> int:
    return 1 if b"coding" in data.partition(b"\n")[0] else 2
