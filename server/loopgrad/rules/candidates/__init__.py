"""What could mend a finding, as plain data: each module here knows one family of edits.

A candidate is a proposal. Each is applied in memory and analysed again before anybody sees it, so a module
proposes several, the best first, and need not prove that one is right: only that it says what a user would
write.
"""
