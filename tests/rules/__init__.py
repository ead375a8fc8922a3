"""The rules: what they say, where, and what they ask for."""
