import logging

import numpy as np
import torch
import torch.nn as nn


class LearningConfig(object):
    def __init__(self):
        self.epochs = 5
        self.batch_size = 32
        self.step_size = 0.05
        self.random_seed = 0


class NaiveBayesLabelModel(nn.Module):
    """A generative model of votes: a class balance, and an accuracy and a propensity for each voter."""

    def __init__(self, num_classes, num_lfs, acc_prior=0.025, init_acc=0.9):
        super().__init__()
        init = -0.5 * np.log((1.0 / init_acc - 1) / (num_classes - 1))
        self.accuracy = nn.Parameter(torch.full((num_lfs,), float(init)))
        self.propensity = nn.Parameter(torch.zeros(num_lfs))
        self.class_balance = nn.Parameter(torch.zeros(num_classes))
        self.num_classes, self.num_lfs = num_classes, num_lfs
        self.acc_prior = acc_prior
        self._init_acc = float(init)

    def forward(self, votes):
        """The log likelihood of each row of votes (0 is an abstention)."""
        ll = nn.functional.log_softmax(self.class_balance, dim=0).unsqueeze(0).repeat(len(votes), 1)
        norm = torch.logsumexp(torch.stack([self.accuracy, -self.accuracy]), dim=0)
        z = torch.log1p(torch.exp(self.propensity + norm))
        for c in range(self.num_classes):
            agrees = (votes == c + 1).float()
            votes_other = ((votes != c + 1) & (votes != 0)).float()
            score = agrees * (self.propensity + self.accuracy) + votes_other * (self.propensity - self.accuracy)
            ll = ll + nn.functional.one_hot(torch.tensor(c), self.num_classes) * (score - z).sum(1, keepdim=True)
        return torch.logsumexp(ll, dim=1)

    def _get_regularization_loss(self):
        return self.acc_prior * torch.norm(self.accuracy - self._init_acc)

    def estimate_label_model(self, votes, config=None):
        config = config or LearningConfig()
        torch.manual_seed(config.random_seed)
        batches = [votes[i : i + config.batch_size] for i in range(0, len(votes), config.batch_size)]
        self._do_estimate_label_model(batches, config)

    def _do_estimate_label_model(self, batches, config):
        optimizer = torch.optim.SGD(self.parameters(), lr=config.step_size, momentum=0.9)
        for epoch in range(config.epochs):
            logging.info("Epoch {}/{}".format(epoch + 1, config.epochs))
            running_loss = 0.0
            epoch_loss = 0.0
            for i_batch, inputs in enumerate(batches):
                optimizer.zero_grad()
                log_likelihood = self(inputs)
                loss = -1 * torch.mean(log_likelihood)
                loss += self._get_regularization_loss()
                loss.backward()
                optimizer.step()
                running_loss += loss.item()
            epoch_loss = running_loss / len(batches)
            logging.info("Train Loss: %.6f", epoch_loss)


if __name__ == "__main__":
    np.random.seed(0)
    n_batches = 4
    truth = np.random.randint(1, 3, size=n_batches * 32)
    seen = np.stack([np.where(np.random.rand(len(truth)) < 0.8, truth, 0) for _ in range(5)], axis=1)
    model = NaiveBayesLabelModel(2, 5)
    model.estimate_label_model(torch.from_numpy(seen))
    print(model.accuracy.detach().numpy().round(3))
