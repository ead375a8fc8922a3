"""The language server: Loopgrad in any editor that speaks LSP.

Two processes share the work. The *server* (``server.py`` and the modules it names) holds the documents, talks
to the client and always answers: it imports neither the engine nor libcst. The *worker* (``worker.py``) reads
and analyses files, one job at a time, and can be interrupted or killed. Between them travel the plain data of
``wire.py``; ``analysis_queue.py`` decides what the worker does next.

A change of a document goes: ``documents`` (the text) → ``analysis`` (when to check it) → ``analysis_queue`` →
worker → ``analysis`` (is the result still wanted?) → ``diagnostics`` (what the client is shown).
"""
