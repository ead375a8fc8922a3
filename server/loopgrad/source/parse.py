"""Text to syntax tree, with a plain sentence for each way in which that fails."""

from __future__ import annotations

import ast
import re
import sys
import warnings

from loopgrad.collector import uncollected
from loopgrad.model import Message
from loopgrad.source.errors import SourceError
from loopgrad.source.ipython import script_to_python

#: What Python 2 allowed and Python 3 does not, tried on the line that failed.
_PYTHON_2 = (
    (re.compile(r"^\s*print\s+[^\s(=.,\[]"), "print x"),
    (re.compile(r"^\s*print\s*$"), "print"),
    (re.compile(r"^\s*exec\s+[\"'\w]"), "exec code"),
    (re.compile(r"^\s*except\s+[\w.()\s,]+,\s*\w+\s*:"), "except X, e"),
    (re.compile(r"^\s*raise\s+[\w.]+\s*,"), "raise X, text"),
    (re.compile(r"<>"), "a <> b"),
    (re.compile(r"`"), "`x`"),
    (re.compile(r"(?<![\w.])0[0-7]+(?![\w.])"), "0755"),
    (re.compile(r"(?<![\w.])(?:\d+|0[xX][\da-fA-F]+)[lL]\b"), "10L"),
    (re.compile(r"(?<!\w)[uU][rR][\"']"), "ur'x'"),
)

#: ``x.cuda(async=True)``: a keyword from Python 3.7 on.
_ASYNC = re.compile(r"\basync\s*=")


def as_python(text: str) -> str:
    """The text itself, or line for line what a script with cells and IPython's magics means in plain Python."""
    if not _MAGIC_LINE.search(text):
        return text
    lines = split_lines(text)
    python = script_to_python(lines)
    if python is None or python == lines:
        return text
    return "".join(
        plain + line[len(line.rstrip("\r\n")) :] for plain, line in zip(python, split_keeping_ends(text))
    )


def read_tree(text: str) -> ast.Module:
    """The tree of a text, or of what it means in plain Python; raises as ``ast.parse`` does."""
    with uncollected(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python says of invalid escapes is not ours to show
        try:
            return ast.parse(text)
        except SyntaxError:
            python = as_python(text)
            if python is text:
                raise
            return ast.parse(python)


def parse(path: str, text: str) -> ast.Module:
    """The module's tree, or a SourceError that says why there is none."""
    try:
        return read_tree(text)
    except SyntaxError as error:
        raise SourceError(path, error.lineno or 1, explain(error, text)) from None
    except (RecursionError, MemoryError):
        raise SourceError(path, 1, Message.of("source.too-deep")) from None
    except ValueError as error:  # lone surrogates, which only an unsaved text can hold
        message = Message.of("source.syntax", reason=str(error), version=version())
        raise SourceError(path, 1, message) from None


def explain(error: SyntaxError, text: str) -> Message:
    """What a syntax error means: code of Python 2, nesting beyond the parser's limits, or plain wrong."""
    reason = error.msg or "invalid syntax"
    if reason.startswith("too many"):
        return Message.of("source.too-deep")
    construct = _python_2_construct(reason, _line(text, error.lineno or 1))
    if construct:
        return Message.of("source.python2", construct=construct)
    if _ASYNC.search(_line(text, error.lineno or 1)):
        return Message.of("source.async")
    return Message.of("source.syntax", reason=reason, version=version())


def version() -> str:
    """The version whose grammar reads the files: that of the running interpreter."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def _python_2_construct(reason: str, line: str) -> str | None:
    if "call to 'print'" in reason:
        return "print x"
    if "call to 'exec'" in reason:
        return "exec code"
    for pattern, construct in _PYTHON_2:
        if pattern.search(line):
            return construct
    return None


def _line(text: str, number: int) -> str:
    lines = split_lines(text)
    return lines[number - 1] if 0 < number <= len(lines) else ""


#: A line that begins or ends as none of Python's does.
#: What comes behind the indentation is no blank: else a long line of blanks takes minutes.
_MAGIC_LINE = re.compile(r"^[ \t]*(?=\S)(?:[%!?]|[\w., ]+=\s*[%!]|[\w.]+\?)", re.MULTILINE)
_NEWLINE = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def split_lines(text: str) -> list[str]:
    """The lines as Python counts them: form feeds and Unicode separators end none."""
    return _NEWLINE.split(text) if "\r" in text else text.split("\n")


def split_keeping_ends(text: str) -> list[str]:
    """The lines with what ends them; joined, they are the text."""
    return _LINE.findall(text)
