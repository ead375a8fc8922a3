"""Waits for data that never come, as a training script does whose server is down."""

import subprocess
import sys
import time

import torch

WORKER = "import time; time.sleep(3600)  # of endless.py"
worker = subprocess.Popen([sys.executable, "-c", WORKER])
while worker.poll() is None:
    time.sleep(1)

weight = torch.ones(1, requires_grad=True)
for step in range(3):
    (weight * step).sum().backward()
