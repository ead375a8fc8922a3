"""What runs inside the user's interpreter: the standard library and torch, nothing else of Loopgrad.

``start.py`` is the file that Python is given. It loads this package under a private name, so that the
script's own imports never meet it, and hands it a *job* (plain data, see ``job.py``). The script then runs
unmodified on disk while the parts here watch:

* ``instrument`` and ``imports`` compile the user's files with ticks in their loops and marks on statements;
* ``places`` keeps what those report: which loops are active, in which iteration, which statement ran;
* ``passes`` stands in for the autograd engine and sees every backward; ``faults`` explains one that raises;
* ``names`` finds what the live frames call a tensor; ``growth`` counts generations that stay alive;
* ``training`` watches optimizers, ``writes`` the first write into the workspace;
* ``devices`` lets the CPU stand in for an accelerator, ``shapes`` runs without computing;
* ``channel`` tells the host, a JSON line an event;
* ``server`` and ``supervisor`` are the warm server and what stands between it and a run; ``tree`` ends a process
  with all that came of it, for the host too.
"""
