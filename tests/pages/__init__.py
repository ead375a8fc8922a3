"""The rules' pages are tests: their blocks are analysed and run."""
