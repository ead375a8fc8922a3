"""Sentences for the client. One that no catalogue has is said by its key: diagnostics do not fail for a word."""

from __future__ import annotations

from loopgrad.messages import render
from loopgrad.model import Message


def words(message: Message, language: str) -> str:
    try:
        return render(message, language)
    except (KeyError, IndexError):
        inner = [words(value, language) for _, value in message.args if isinstance(value, Message)]
        return " ".join([message.key, *inner])
