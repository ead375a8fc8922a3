"""What could mend a finding, as plain data: each module here knows one family of edits."""
