import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.hidden = hidden
        self.embedding = nn.Embedding(vocab, hidden)
        self.lstm = nn.LSTM(hidden, hidden, num_layers=1)

    def forward(self, words, state):
        return self.lstm(self.embedding(words).unsqueeze(1), state)

    def init_state(self):
        return torch.zeros(1, 1, self.hidden), torch.zeros(1, 1, self.hidden)


class AttnDecoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.lstm = nn.LSTM(2 * hidden, hidden)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, word, state, memory):
        weights = (memory.squeeze(1) @ state[0].view(-1)).softmax(0)
        context = (weights[:, None, None] * memory).sum(0, keepdim=True)
        x = torch.cat([self.embedding(word).view(1, 1, -1), context], dim=-1)
        output, state = self.lstm(x, state)
        return self.out(output.view(1, -1)), state


def train_sentence(pair, encoder, decoder, optimizers, criterion, encoder_state):
    source, target = pair
    for optimizer in optimizers:
        optimizer.zero_grad()
    memory, encoder_state = encoder(source, encoder_state)
    decoder_state, word = encoder_state, torch.tensor([0])
    loss = 0
    for expected in target:
        logits, decoder_state = decoder(word, decoder_state, memory)
        loss += criterion(logits, expected.view(1))
        word = expected.view(1)
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    return loss.item() / len(target), encoder_state


def train_iters(n_sentences, vocab=12, hidden=16):
    encoder, decoder = Encoder(vocab, hidden), AttnDecoder(vocab, hidden)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.05) for m in (encoder, decoder)]
    criterion = nn.CrossEntropyLoss()
    encoder_state = encoder.init_state()
    for it in range(n_sentences):
        pair = torch.randint(1, vocab, (4,)), torch.randint(1, vocab, (3,))
        loss, encoder_state = train_sentence(pair, encoder, decoder, optimizers, criterion, encoder_state)
        print(it, loss)


torch.manual_seed(0)
n_sentences = 4
train_iters(n_sentences)
