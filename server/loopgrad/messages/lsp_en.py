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
    "lsp.confirm-finding": "Confirm {code} on device",
    # What a run has shown
    "lsp.marked": "{message} ({mark})",
    "lsp.confirmed": "confirmed on {device}",
    "lsp.confirmed-iteration": "confirmed on {device} in iteration {iteration}",
    "lsp.confirmed-shape-only": "confirmed by shapes alone",
    "lsp.confirmed-shape-only-iteration": "confirmed by shapes alone in iteration {iteration}",
    "lsp.refuted": "a complete run on {device} does not bear it out",
    "lsp.no-report": "this is no report of loopgrad confirm",
    # Hovers
    "lsp.line": "line {line}",
    "lsp.hover-no-rule": "{code} is no rule of Loopgrad",
    "lsp.hover-carries": "`{name}` carries a graph that is built in line {line}.",
    "lsp.hover-carries-iteration": (
        "`{name}` carries a graph that is built in line {line}, in iteration {iteration}."
    ),
    # What a variable holds
    "lsp.held.none": "`{name}` carries no graph.",
    "lsp.held.cut": "`{name}` carries no graph: it was cut off in {where}.",
    "lsp.held.leaf": "`{name}` is a leaf that requires grad: graphs end here, and it carries none.",
    "lsp.held.graph": "`{name}` carries a graph, built in {built}.",
    "lsp.held.guess": "`{name}` may carry a graph, built in {built}.",
    "lsp.held.back": "It reaches back to {back}.",
    "lsp.held.freed": "The backward() in {freed} has freed it.",
    "lsp.held.freed-in-part": "The backward() in {freed} has freed that part of it.",
    "lsp.held.and": "{first} {second}",
    "lsp.held.in": "Iteration {iteration}: {text}",
    "lsp.held.range": "Iterations {first} to {last}: {text}",
    "lsp.held.from": "From iteration {iteration} on: {text}",
    "lsp.held.called": "Called from {where}: {text}",
    "lsp.held.also": "At other times: {text}",
    "lsp.held.when.same": "{where} in the same iteration",
    "lsp.held.when.previous": "{where} in the iteration before",
    "lsp.held.when.iteration": "{where} in iteration {iteration}",
    "lsp.held.when.before-loop": "{where}, before the loop",
    "lsp.held.somewhere": "a place out of sight",
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
