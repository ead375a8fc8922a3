import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser(description="energies and forces of structures")
parser.add_argument("--batch", type=int, default=1)
parser.add_argument("--device", default="cpu")
args = parser.parse_args([])


class AtomicEnergy(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, pos):
        distance = (pos[:, :, None] - pos[:, None]).pow(2).sum(-1, keepdim=True) + 1e-3
        return self.net(distance.sqrt()).sum(dim=(1, 2, 3))


class ForceOutput(nn.Module):
    def __init__(self, energy_model):
        super().__init__()
        self.energy_model = energy_model

    def forward(self, data):
        pos = data["pos"].requires_grad_(True)
        energy = self.energy_model(pos)
        (grad,) = torch.autograd.grad([energy.sum()], [pos], create_graph=self.training)
        data["inferred_total_energy"] = energy
        data["inferred_force"] = -grad
        return data


def to_atom_graph_list(batch):
    keys = list(batch)
    return [{k: batch[k][i] for k in keys} for i in range(len(batch["pos"]))]


def inference(model, dataset, device):
    model.to(device)
    model.eval()
    loader = DataLoader(dataset, batch_size=args.batch, collate_fn=lambda rows: {"pos": torch.stack(rows)})
    output_list = []
    mae = 0.0
    for batch in loader:
        batch = {k: v.to(device) for k, v in batch.items()}
        output = model(batch)
        mae += output["inferred_force"].abs().mean().item()
        output_list.extend(to_atom_graph_list({k: v.detach().cpu() for k, v in output.items()}))
    return mae / len(dataset), output_list


if __name__ == "__main__":
    torch.manual_seed(0)
    n_structures = 4
    structures = [torch.randn(5, 3) for _ in range(n_structures)]
    mean_force, results = inference(ForceOutput(AtomicEnergy()), structures, args.device)
    print(mean_force, sum(float(r["inferred_total_energy"]) for r in results))
