import random

import torch
import torch.nn as nn
from torch import optim

SOS, EOS = 0, 1
MAX_LENGTH = 6
teacher_forcing_ratio = 0.5


class EncoderRNN(nn.Module):
    def __init__(self, n_words, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(n_words, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)

    def forward(self, word, hidden):
        embedded = self.embedding(word).view(1, 1, -1)
        return self.gru(embedded, hidden)

    def init_hidden(self):
        return torch.zeros(1, 1, self.hidden_size)


class DecoderRNN(nn.Module):
    def __init__(self, hidden_size, n_words):
        super().__init__()
        self.embedding = nn.Embedding(n_words, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, n_words)

    def forward(self, word, hidden):
        output = torch.relu(self.embedding(word).view(1, 1, -1))
        output, hidden = self.gru(output, hidden)
        return self.out(output[0]), hidden


def train(source, target, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion):
    encoder_hidden = encoder.init_hidden()
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    for ei in range(len(source)):
        _, encoder_hidden = encoder(source[ei], encoder_hidden)

    decoder_input = torch.tensor([SOS])
    decoder_hidden = encoder_hidden
    use_teacher_forcing = random.random() < teacher_forcing_ratio
    total = 0
    for di in range(len(target)):
        decoder_output, decoder_hidden = decoder(decoder_input, decoder_hidden)
        loss = criterion(decoder_output, target[di].view(1))
        total += loss
        if use_teacher_forcing:
            decoder_input = target[di]
        else:
            decoder_input = decoder_output.topk(1)[1].squeeze().detach()

    total.backward()
    encoder_optimizer.step()
    decoder_optimizer.step()
    return total.item() / len(target)


def main():
    random.seed(1)
    torch.manual_seed(1)
    n_iters = 4
    encoder, decoder = EncoderRNN(15, 16), DecoderRNN(16, 15)
    encoder_optimizer = optim.SGD(encoder.parameters(), lr=0.01)
    decoder_optimizer = optim.SGD(decoder.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for it in range(1, n_iters + 1):
        source = torch.randint(2, 15, (random.randint(3, MAX_LENGTH),))
        target = torch.cat([torch.randint(2, 15, (random.randint(3, MAX_LENGTH),)), torch.tensor([EOS])])
        print(it, train(source, target, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion))


main()
