"""Loopgrad: finds tensors that carry an autograd graph where none may be carried."""

__version__ = "0.1.0"
