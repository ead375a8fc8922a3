"""The index: results of earlier checks, kept on disk, that still hold.

What is kept of a file is its ``FileOutcome`` and what its check asked of the file system (``source.asked``): what
each file held that it read, and where each import led. A result stands as long as all of that would be answered
the same now; so an edit costs the file and the files that looked at it, and a module that comes or goes costs
those whose imports it changes. The time of a change is never compared with anything but itself.

=============  =====================================================================================
``index``      finding a result that still holds, and taking in new ones
``facts``      the files a result looked at, with what they held and where their imports led
``codec``      outcomes to JSON and back
``store``      the database: concurrent runs, killed runs, broken files
``places``     which folder it is in, what marks that folder, and taking it away
``version``    what a result depends on besides files: Loopgrad's own code, and Python's
``command``    ``loopgrad clean``
=============  =====================================================================================
"""

from loopgrad.index.index import Hit, Index

__all__ = ["Hit", "Index"]
