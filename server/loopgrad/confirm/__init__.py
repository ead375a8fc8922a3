"""``loopgrad confirm``: runs the user's script and says what PyTorch makes of it.

The host side is here; what runs inside the user's interpreter is in ``probe``.

* ``process`` starts a child with limits, forwards its output and leaves nothing of it behind;
* ``observe`` makes a job of a request, runs it (in a scratch copy, in several ranks, a second time where an
  accelerator has to be pretended) and gathers the events;
* ``verdict`` reads events: confirmed, clean or inconclusive, with the reason;
* ``stores`` finds the statement that stored a carrier; ``static`` holds the check's findings against the run;
* ``proof`` compares the runs before and after a fix; ``command`` and ``report`` are the command line.
"""
