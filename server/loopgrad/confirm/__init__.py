"""``loopgrad confirm``: runs the user's script and says what PyTorch makes of it.

The host side is here; what runs inside the user's interpreter is in ``probe``.

* ``process`` starts a child and leaves nothing of it behind (``windows``: by a job object); ``pipes`` forwards
  its output; ``warm`` has a process that holds torch fork it instead;
* ``observe`` makes a job of a request, runs it (in a scratch copy, in several ranks, a second time where an
  accelerator has to be pretended) and gathers the events;
* ``verdict`` reads events: confirmed, clean or inconclusive, with the reason;
* ``stores`` finds the statement that stored a carrier; ``static`` holds the check's findings against the run;
* ``proof`` compares the runs before and after a fix; ``minimal`` makes a script of a refuted finding;
* ``command``, ``report`` and ``progress`` are the command line.
"""
