"""Sentences by key, in the reader's language.

A catalogue is a dict from keys to ``str.format`` templates. Each part of Loopgrad brings its own as a pair
of modules here, ``<part>_en.py`` and ``<part>_zh.py``, each with a dict ``MESSAGES``; a key is in one part
alone. English is complete; a key that a translation lacks is said in English.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from loopgrad.model import Message

#: The languages by their tags, with the ending of their modules.
LANGUAGES = {"en": "_en", "zh-cn": "_zh"}

DEFAULT = "en"


def language_of(tag: str | None) -> str:
    """The language to speak to a client of this locale (``zh-CN``, ``zh_Hans``, ``en-GB``, None)."""
    normal = (tag or "").lower().replace("_", "-").partition(".")[0]
    if normal in ("zh", "zh-cn", "zh-sg") or normal.startswith("zh-hans"):
        return "zh-cn"
    return DEFAULT


@cache
def catalogue(language: str) -> dict[str, str]:
    """All templates of a language, without what it lacks."""
    ending = LANGUAGES[language]
    merged: dict[str, str] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name.endswith(ending):
            part: dict[str, str] = importlib.import_module(f"{__name__}.{module.name}").MESSAGES
            twice = merged.keys() & part.keys()
            if twice:
                raise ValueError(f"{module.name} repeats {sorted(twice)}")
            merged.update(part)
    return merged


def render(message: Message, language: str = DEFAULT) -> str:
    """The sentence. An unknown key raises KeyError: that is a mistake in Loopgrad, not in what it reads."""
    template = catalogue(language).get(message.key)
    if template is None:
        template = catalogue(DEFAULT)[message.key]
    return template.format(**{name: _value(value, language) for name, value in message.args})


def _value(value: Any, language: str) -> Any:
    """An argument as it stands in the sentence: messages within messages, and lists of names."""
    if isinstance(value, Message):
        return render(value, language)
    if isinstance(value, (tuple, list)):
        separator = "、" if language == "zh-cn" else ", "
        return separator.join(str(_value(part, language)) for part in value)
    return value
