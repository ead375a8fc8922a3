"""What ``loopgrad confirm`` says, in English."""

MESSAGES = {
    "confirm.usage.no-script": "there is no script {path}",
    "confirm.usage.too-large": "{path} is too large for a scratch copy",
    "confirm.verdict.confirmed": "Confirmed",
    "confirm.verdict.clean": "Clean",
    "confirm.verdict.inconclusive": "Inconclusive",
    # Reasons
    "confirm.reason.unknown": "nothing is known of the run",
    "confirm.reason.second-backward": (
        "PyTorch raises: a backward reaches a graph that an earlier one has freed"
    ),
    "confirm.reason.inplace-version": (
        "PyTorch raises: a tensor that a gradient needs has been modified in place"
    ),
    "confirm.reason.leaf-inplace": "PyTorch raises: a leaf that requires grad is modified in place",
    "confirm.reason.no-grad-fn": "PyTorch raises: the loss has no graph",
    "confirm.reason.silent": (
        "nothing raises, but a backward walks a graph of values that have changed since: a gradient is wrong"
    ),
    "confirm.reason.grows": "nothing raises, but the graphs of {generations} iterations stay alive",
    "confirm.reason.not-trained": "nothing raises, but an optimizer steps without one gradient: {names}",
    "confirm.reason.clean-steps": "the script ran its steps and nothing went wrong",
    "confirm.reason.clean-ended": "the script ran to its end and nothing went wrong",
    "confirm.reason.no-python": "the interpreter {python} cannot be started: {error}",
    "confirm.reason.no-torch": (
        "{python} has no usable torch ({error}); choose the interpreter that the script runs with"
    ),
    "confirm.reason.no-device": "there is no device {device} here",
    "confirm.reason.timeout": "it was ended after {seconds} seconds, {where}",
    "confirm.reason.cancelled": "it was cancelled, {where}",
    "confirm.reason.flood": "it was ended because it printed too much, {where}",
    "confirm.reason.killed": "it was killed (SIGKILL; perhaps memory ran out), {where}",
    "confirm.reason.signal": "it was ended by the signal {signal}, {where}",
    "confirm.reason.no-start": "the interpreter ended with status {status} before the script began",
    "confirm.reason.vanished": "it ended with status {status} without a word, {where}",
    "confirm.reason.status": "the script ended itself with status {status}, {where}",
    "confirm.reason.module": "{text}: it is not installed for {python}",
    "confirm.reason.file": "a file is missing at {place}: {text}",
    "confirm.reason.input": "the script asks for input at {place}, and there is none here, {where}",
    "confirm.reason.interrupted": "the script was interrupted (KeyboardInterrupt), {where}",
    "confirm.reason.memory": "memory ran out at {place}, {where}",
    "confirm.reason.exception": "the script raised {type} at {place}, {where}: {text}",
    "confirm.reason.guessed": "a branch at {place} depends on data, which shape-only does not compute",
    "confirm.reason.no-backward": "no backward was seen in this process",
    "confirm.where.before": "before any backward",
    "confirm.where.step": "in step {step}",
    # The text report
    "confirm.text.headline": "{verdict} on {device}: {reason} ({steps} steps, {seconds} s).",
    "confirm.text.headline-iteration": (
        "{verdict} on {device} in iteration {iteration}: {reason} ({steps} steps, {seconds} s)."
    ),
    "confirm.text.raised": "{place}  raises",
    "confirm.text.freed": "{place}  freed the graph",
    "confirm.text.built": "{place}  built it",
    "confirm.text.through": "{place}  called that",
    "confirm.text.carrier": "{place}  stores {name}, which carries it",
    "confirm.text.carrier-only": "{name} carries it",
    "confirm.text.nodes": "graph nodes alive after each step: {nodes}",
    "confirm.text.redirected": "the script asks for an accelerator; the CPU stood in for it",
    "confirm.text.shape-only": "shapes only: nothing was computed",
    "confirm.text.write": "the run wrote {path} (from {place}); --scratch-copy keeps such writes out",
    "confirm.text.finding": "{code} at {place}: {status}",
    "confirm.text.fixed-proven": "The fix is proven:",
    "confirm.text.fixed-unproven": "The fix is not proven:",
    "confirm.text.no-check": "loopgrad: the files that ran could not be checked: {reason}",
    "confirm.text.no-report": "no finding was refuted by this run: there is nothing to report",
    "confirm.text.report-not-written": "the report cannot be written: {error}",
    "confirm.text.no-fix": "There is no preferred fix to prove.",
    "confirm.text.no-longer": "no longer trained: {names}",
    "confirm.text.still": "everything that was trained still is ({count} parameters)",
    "confirm.text.loss-equal": "the first loss is the same",
    "confirm.text.loss-differs": "the first loss differs",
    "confirm.status.confirmed": "confirmed",
    "confirm.status.refuted": "refuted by this run",
    "confirm.status.not-reached": "not reached",
}
