import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(1)
np.random.seed(1)

# Hyper Parameters
BATCH_SIZE = 16
LR_G = 0.0001
LR_D = 0.0001
N_IDEAS = 5
ART_COMPONENTS = 15
PAINT_POINTS = np.vstack([np.linspace(-1, 1, ART_COMPONENTS) for _ in range(BATCH_SIZE)])


def artist_works():
    r = 0.02 * np.random.randn(1, ART_COMPONENTS)
    return torch.from_numpy(np.sin(PAINT_POINTS * np.pi) + r).float()


G = nn.Sequential(
    nn.Linear(N_IDEAS, 32),
    nn.ReLU(),
    nn.Linear(32, ART_COMPONENTS),
)

D = nn.Sequential(
    nn.Linear(ART_COMPONENTS, 32),
    nn.ReLU(),
    nn.Linear(32, 1),
    nn.Sigmoid(),
)

opt_D = torch.optim.Adam(D.parameters(), lr=LR_D)
opt_G = torch.optim.Adam(G.parameters(), lr=LR_G)

n_rounds = 5
for step in range(n_rounds):
    artist_paintings = artist_works()
    G_ideas = torch.randn(BATCH_SIZE, N_IDEAS)
    G_paintings = G(G_ideas)

    prob_artist0 = D(artist_paintings)
    prob_artist1 = D(G_paintings.detach())

    D_loss = -torch.mean(torch.log(prob_artist0) + torch.log(1.0 - prob_artist1))

    opt_D.zero_grad()
    D_loss.backward()
    opt_D.step()

    G_loss = torch.mean(torch.log(1.0 - D(G_paintings)))

    opt_G.zero_grad()
    G_loss.backward()
    opt_G.step()

    if step % 2 == 0:
        print(step, prob_artist0.data.numpy().mean(), -D_loss.item())
