"""What the language server says, in English."""

MESSAGES = {
    # Diagnostics
    "lsp.hint": "this raises; the cause is in line {line}",
    "lsp.hint-iteration": "this raises in iteration {iteration}; the cause is in line {line}",
    "lsp.hint-elsewhere": "this raises; the cause is in {file}, line {line}",
    "lsp.hint-iteration-elsewhere": (
        "this raises in iteration {iteration}; the cause is in {file}, line {line}"
    ),
    "lsp.syntax": "not analysed as it stands: {reason}",
    # Code actions
    "lsp.fix-all": "Fix all that Loopgrad can fix safely",
    "lsp.explain": "Explain {code}",
    "lsp.modified": "the document has changed since; ask for the fixes again",
    "lsp.confirm": "Confirm on device",
    # Hovers
    "lsp.line": "line {line}",
    "lsp.hover-no-rule": "{code} is no rule of Loopgrad",
    "lsp.hover-carries": "`{name}` carries a graph that is built in line {line}.",
    "lsp.hover-carries-iteration": (
        "`{name}` carries a graph that is built in line {line}, in iteration {iteration}."
    ),
    # Commands
    "lsp.checking-workspace": "Loopgrad: checking the workspace",
    "lsp.progress": "{done} of {total} files",
    "lsp.not-open": "{uri} is not open",
    "lsp.traceback-none": "this text holds no traceback",
    "lsp.traceback-no-file": "no file of the traceback is in this workspace",
    "lsp.traceback-no-finding": (
        "this is where it raises; Loopgrad found nothing in this file that explains it"
    ),
    "lsp.traceback-found": "{code} in line {line} is the cause",
    # The log
    "lsp.failed": "an error in Loopgrad itself, please report it: {reason}",
    "lsp.not-analysed": "{path} could not be analysed: {reason}",
    "lsp.partial": "{path}:{line}: analysed in part only: {reason}",
    "lsp.problem": "{path}:{line}: {reason}",
}
