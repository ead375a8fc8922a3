"""Tests of ``loopgrad confirm``: real scripts in real processes under real PyTorch."""
