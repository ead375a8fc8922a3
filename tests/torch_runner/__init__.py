"""Runs a script under real PyTorch and says what became of its autograd graphs."""
