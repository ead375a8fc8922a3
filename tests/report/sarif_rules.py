"""The constraints of the SARIF 2.1.0 schema that concern what Loopgrad writes, as a small checker.

The schema forbids unknown keys nowhere, but a misspelt key is a key that no viewer reads: here each object
may have only the keys that the standard gives it. Types, required keys, enumerations and minima are the
schema's.
"""

from __future__ import annotations

from typing import Any

#: Of each kind of object: its keys, with the kind of value; ``!`` marks required ones.
KINDS: dict[str, dict[str, str]] = {
    "log": {"$schema": "uri", "version!": "version", "runs!": "[run]"},
    "run": {
        "tool!": "tool",
        "invocations": "[invocation]",
        "columnKind": "columnKind",
        "results": "[result]",
    },
    "tool": {"driver!": "driver"},
    "driver": {"name!": "text", "semanticVersion": "text", "rules": "[rule]"},
    "rule": {
        "id!": "text",
        "name": "text",
        "shortDescription": "multiformat",
        "help": "multiformat",
        "defaultConfiguration": "configuration",
        "properties": "bag",
    },
    "multiformat": {"text!": "text", "markdown": "text"},
    "configuration": {"enabled": "bool", "level": "level"},
    "invocation": {"executionSuccessful!": "bool", "toolExecutionNotifications": "[notification]"},
    "notification": {"message!": "message", "level": "level", "locations": "[location]"},
    "message": {"text": "text"},
    "result": {
        "ruleId": "text",
        "ruleIndex": "index",
        "level": "level",
        "message!": "message",
        "locations": "[location]",
        "codeFlows": "[codeFlow]",
        "relatedLocations": "[location]",
        "fixes": "[fix]",
        "partialFingerprints": "bag",
        "properties": "bag",
    },
    "location": {
        "id": "index",
        "physicalLocation": "physical",
        "message": "message",
        "properties": "bag",
    },
    "physical": {"artifactLocation!": "artifact", "region": "region"},
    "artifact": {"uri": "uri"},
    "region": {
        "startLine": "position",
        "startColumn": "position",
        "endLine": "position",
        "endColumn": "position",
    },
    "codeFlow": {"threadFlows!": "[threadFlow]+"},
    "threadFlow": {"locations!": "[threadFlowLocation]+"},
    "threadFlowLocation": {"location": "location", "kinds": "[text]", "executionOrder": "index"},
    "fix": {"description": "message", "artifactChanges!": "[artifactChange]+"},
    "artifactChange": {"artifactLocation!": "artifact", "replacements!": "[replacement]+"},
    "replacement": {"deletedRegion!": "region", "insertedContent": "content"},
    "content": {"text": "text"},
}

ENUMERATIONS = {
    "version": {"2.1.0"},
    "level": {"none", "note", "warning", "error"},
    "columnKind": {"utf16CodeUnits", "unicodeCodePoints"},
}


def violations(document: Any, kind: str = "log", path: str = "$") -> list[str]:
    """What is wrong with a SARIF log, each with its place; empty if nothing is."""
    if kind.startswith("["):
        at_least_one = kind.endswith("+")
        inner = kind.rstrip("+")[1:-1]
        if not isinstance(document, list) or (at_least_one and not document):
            return [f"{path}: not a list as asked for"]
        return [
            each
            for number, part in enumerate(document)
            for each in violations(part, inner, f"{path}[{number}]")
        ]
    if kind in KINDS:
        return _object(document, kind, path)
    return [] if _scalar(document, kind) else [f"{path}: {document!r} is no {kind}"]


def _object(document: Any, kind: str, path: str) -> list[str]:
    if not isinstance(document, dict):
        return [f"{path}: no object"]
    keys = {key.rstrip("!"): value for key, value in KINDS[kind].items()}
    found = [f"{path}: {kind} has no key {key}" for key in document if key not in keys]
    found += [
        f"{path}: {key[:-1]} is missing" for key in KINDS[kind] if key[-1] == "!" and key[:-1] not in document
    ]
    for key, value in document.items():
        if key in keys:
            found += violations(value, keys[key], f"{path}.{key}")
    return found


def _scalar(value: Any, kind: str) -> bool:
    if kind in ENUMERATIONS:
        return value in ENUMERATIONS[kind]
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "bag":
        return isinstance(value, dict)
    if kind in ("index", "position"):
        return type(value) is int and value >= (1 if kind == "position" else 0)
    if kind == "uri":
        return isinstance(value, str) and value.isascii() and not set(value) & set(' <>"{}|\\^`')
    return isinstance(value, str) and bool(value or kind == "text")
