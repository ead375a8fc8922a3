"""The database of one workspace: SQLite, which is safe under concurrent and killed runs by itself.

Nothing here raises: a database that cannot be opened or written, or that another run keeps locked, is a miss; one
that is broken is taken away, to be made anew by the next run. What is written is gathered and goes in with one
transaction now and then, so that a run that is ended has kept most of what it did.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from loopgrad.source.asked import Stamp

if TYPE_CHECKING:
    import sqlite3

#: Seconds to wait for another run that writes, and between two writings of our own.
PATIENCE = 5.0
PERIOD = 1.0

#: Results of one file under other settings that stay.
VARIANTS = 4

_TABLES = (
    "CREATE TABLE IF NOT EXISTS modules (id INTEGER PRIMARY KEY, fact TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS results (path TEXT NOT NULL, variant TEXT NOT NULL, named INTEGER NOT NULL, "
    "wanted INTEGER NOT NULL, fixes INTEGER NOT NULL, modules BLOB NOT NULL, checked TEXT NOT NULL, "
    "outcome TEXT NOT NULL, seal INTEGER NOT NULL, PRIMARY KEY (path, variant))",
    "CREATE TABLE IF NOT EXISTS stamps (path TEXT PRIMARY KEY, changed INTEGER NOT NULL, "
    "status_changed INTEGER NOT NULL, size INTEGER NOT NULL, content TEXT NOT NULL)",
)


class Result(NamedTuple):
    """What is kept of a file. ``modules`` names the facts it rests on, 8 bytes each; ``checked`` is JSON."""

    path: str
    variant: str
    named: bool
    wanted: bool
    fixes: bool
    modules: bytes
    checked: str
    outcome: str

    @property
    def seal(self) -> int:
        """A digest of the row: a disk that lies about it is found out."""
        return number_of(repr(tuple(self)))


class _Ahead(NamedTuple):
    """Rows as they lie in the tables."""

    results: dict[tuple[str, str], tuple]
    facts: dict[int, str]
    stamps: dict[str, tuple]


def number_of(text: str) -> int:
    """63 bits that name a text."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big") >> 1


class Store:
    def __init__(self, path: str) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._writable = True
        self._results: list[Result] = []
        self._facts: dict[int, str] = {}
        self._stamps: dict[str, tuple[Stamp, str]] = {}
        #: All rows, if ``read_ahead`` has read them.
        self._ahead: _Ahead | None = None
        self._written = time.monotonic()
        self._wrote = False
        try:
            import sqlite3
        except ImportError:  # a Python that was built without it
            return
        self._sqlite = sqlite3
        self._try(self._open)

    @property
    def usable(self) -> bool:
        return self._connection is not None

    # Reading ---------------------------------------------------------------------------------------

    def read_ahead(self) -> None:
        """Reads everything at once, for a run that asks for most of it: one row at a time takes ten times as long."""
        if self._connection is not None:
            self._try(self._read_all)

    def _read_all(self, connection: sqlite3.Connection) -> None:
        self._ahead = _Ahead(
            {(row[0], row[1]): row for row in connection.execute("SELECT * FROM results")},
            dict(connection.execute("SELECT id, fact FROM modules")),
            {row[0]: row[1:] for row in connection.execute("SELECT * FROM stamps")},
        )

    def let_go(self) -> None:
        """Forgets what was read ahead."""
        self._ahead = None

    def result(self, path: str, variant: str) -> Result | None:
        if self._ahead is not None:
            row = self._ahead.results.get((path, variant))
        else:
            row = self._one("SELECT * FROM results WHERE path = ? AND variant = ?", (path, variant))
        if row is None:
            return None
        *fields, seal = row
        where, variant, named, wanted, fixes, *texts = fields
        result = Result(where, variant, bool(named), bool(wanted), bool(fixes), *texts)
        return result if result.seal == seal else None

    def fact(self, number: int) -> str | None:
        """The text that a number names."""
        waiting = self._facts.get(number)
        if waiting is not None:
            return waiting
        if self._ahead is not None:
            text = self._ahead.facts.get(number)
        else:
            row = self._one("SELECT fact FROM modules WHERE id = ?", (number,))
            text = None if row is None else row[0]
        return text if text is not None and number_of(text) == number else None

    def stamp(self, path: str) -> tuple[Stamp, str] | None:
        """The stamp a file had, and the digest of what it held then."""
        if self._ahead is not None:
            row = self._ahead.stamps.get(path)
        else:
            row = self._one(
                "SELECT changed, status_changed, size, content FROM stamps WHERE path = ?", (path,)
            )
        return (Stamp(*row[:3]), row[3]) if row is not None else None

    # Writing ---------------------------------------------------------------------------------------

    def put(self, result: Result, facts: dict[int, str]) -> None:
        self._results.append(result)
        self._facts.update(facts)
        self._now_and_then()

    def put_stamp(self, path: str, stamp: Stamp, content: str) -> None:
        self._stamps[path] = (stamp, content)

    def _now_and_then(self) -> None:
        if time.monotonic() - self._written > PERIOD:
            self.flush()

    def flush(self) -> None:
        """Writes what has gathered, all or nothing."""
        if self._results or self._stamps:
            self._try(self._write)
        self._results, self._facts, self._stamps = [], {}, {}
        self._written = time.monotonic()

    def rest(self, exists: Callable[[str], bool]) -> None:
        """Writes, and once a day lets go what was kept of files that do not exist any more."""
        self.flush()
        if self._wrote:
            self._wrote = False
            self._try(lambda connection: self._tidy(connection, exists))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # SQLite ----------------------------------------------------------------------------------------

    def _open(self, _: sqlite3.Connection | None) -> None:
        self._connection = connection = self._sqlite.connect(
            self._path, timeout=PATIENCE, isolation_level=None
        )
        connection.execute("PRAGMA synchronous = NORMAL")
        for table in _TABLES:
            connection.execute(table)

    def _one(self, query: str, arguments: tuple) -> tuple | None:
        found: list[tuple | None] = [None]

        def ask(connection: sqlite3.Connection) -> None:
            found[0] = connection.execute(query, arguments).fetchone()

        if self._connection is not None:
            self._try(ask)
        return found[0]

    def _write(self, connection: sqlite3.Connection) -> None:
        def insert() -> None:
            connection.executemany("INSERT OR REPLACE INTO modules VALUES (?, ?)", list(self._facts.items()))
            connection.executemany(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*result, result.seal) for result in self._results],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO stamps VALUES (?, ?, ?, ?, ?)",
                [(path, *stamp, content) for path, (stamp, content) in self._stamps.items()],
            )

        if self._writable:
            _transaction(connection, insert)
            self._wrote = True

    def _tidy(self, connection: sqlite3.Connection, exists: Callable[[str], bool]) -> None:
        today = int(time.time()) // 86400
        if connection.execute("PRAGMA user_version").fetchone()[0] == today:
            return
        kept = [
            path for (path,) in connection.execute("SELECT path FROM stamps UNION SELECT path FROM results")
        ]
        gone = [(path,) for path in kept if not exists(path)]

        def delete() -> None:
            connection.executemany("DELETE FROM results WHERE path = ?", gone)
            connection.executemany("DELETE FROM stamps WHERE path = ?", gone)
            connection.execute(
                "DELETE FROM results WHERE rowid NOT IN (SELECT rowid FROM (SELECT rowid, row_number() OVER "
                "(PARTITION BY path ORDER BY rowid DESC) AS age FROM results) WHERE age <= ?)",
                (VARIANTS,),
            )
            needed: set[int] = set()
            for (modules,) in connection.execute("SELECT modules FROM results"):
                needed.update(numbers(modules))
            unneeded = [row for row in connection.execute("SELECT id FROM modules") if row[0] not in needed]
            connection.executemany("DELETE FROM modules WHERE id = ?", unneeded)
            connection.execute(f"PRAGMA user_version = {today}")

        _transaction(connection, delete)

    def _try(self, work: Callable) -> None:
        """Does something with the database; what goes wrong ends its use, as far as it must."""
        try:
            if work == self._open or self._connection is not None:
                work(self._connection)
        except self._sqlite.OperationalError as error:
            # One that others keep locked for so long is given up as well: each further look would wait again.
            self._writable = False
            if not _only_reading(error):
                self._give_up("no such" in str(error) or "has no column" in str(error))
        except self._sqlite.DatabaseError:
            self._give_up(True)

    def _give_up(self, broken: bool) -> None:
        if self._connection is not None:
            with suppress(self._sqlite.Error):
                self._connection.close()
            self._connection = None
        if broken:
            for path in (self._path, self._path + "-journal"):
                with suppress(OSError):
                    os.remove(path)


def _only_reading(error: Exception) -> bool:
    """Whether a database can be read but not written: on a read-only disk, or on a full one."""
    return "readonly" in str(error) or "full" in str(error)


def _transaction(connection: sqlite3.Connection, work: Callable[[], None]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        work()
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def packed(names: Sequence[int]) -> bytes:
    return struct.pack(f">{len(names)}q", *names)


def numbers(data: bytes) -> tuple[int, ...]:
    """What ``packed`` packed."""
    return struct.unpack(f">{len(data) // 8}q", data[: len(data) // 8 * 8])
