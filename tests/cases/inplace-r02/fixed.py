import torch
import torch.nn as nn
from torch.autograd import Variable


def init_hidden(x, hidden_size):
    return Variable(torch.zeros(1, x.size(0), hidden_size))


class Encoder(nn.Module):
    """Attention over the driving series at each time step, then an LSTM."""

    def __init__(self, input_size, hidden_size, T):
        super(Encoder, self).__init__()
        self.input_size, self.hidden_size, self.T = input_size, hidden_size, T
        self.lstm_layer = nn.LSTM(input_size, hidden_size)
        self.attn_linear = nn.Linear(2 * hidden_size + T, 1)

    def forward(self, input_data):
        input_encoded = Variable(torch.zeros(input_data.size(0), self.T, self.hidden_size))
        hidden = init_hidden(input_data, self.hidden_size)
        cell = init_hidden(input_data, self.hidden_size)
        for t in range(self.T):
            x = torch.cat((
                hidden.repeat(self.input_size, 1, 1).permute(1, 0, 2),
                cell.repeat(self.input_size, 1, 1).permute(1, 0, 2),
                input_data.permute(0, 2, 1),
            ), dim=2)
            x = self.attn_linear(x.view(-1, self.hidden_size * 2 + self.T))
            attn_weights = torch.softmax(x.view(-1, self.input_size), dim=1)
            weighted_input = torch.mul(attn_weights, input_data[:, t, :])
            _, (hidden, cell) = self.lstm_layer(weighted_input.unsqueeze(0), (hidden, cell))
            input_encoded[:, t, :] = hidden
        return input_encoded


class Decoder(nn.Module):
    def __init__(self, encoder_hidden_size, T):
        super(Decoder, self).__init__()
        self.T = T
        self.score = nn.Linear(encoder_hidden_size, 1)
        self.fc = nn.Linear(encoder_hidden_size, 1)

    def forward(self, input_encoded):
        scores = self.score(input_encoded).squeeze(2)
        beta = torch.exp(scores - scores.max(dim=1, keepdim=True)[0])
        beta = beta / beta.sum(dim=1, keepdim=True)
        context = torch.bmm(beta.unsqueeze(1), input_encoded)[:, 0, :]
        return self.fc(context)


def train_iteration(encoder, decoder, optimizers, loss_func, X, y):
    for optimizer in optimizers:
        optimizer.zero_grad()
    y_pred = decoder(encoder(X))
    loss = loss_func(y_pred, y)
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    T, n_series = 5, 4
    encoder, decoder = Encoder(n_series, 8, T), Decoder(8, T)
    optimizers = [torch.optim.Adam(net.parameters(), lr=0.01) for net in (encoder, decoder)]
    loss_func = nn.MSELoss()
    n_iterations = 4
    for i in range(n_iterations):
        X = Variable(torch.randn(6, T, n_series))
        y = X.mean(dim=(1, 2)).unsqueeze(1)
        print(i, train_iteration(encoder, decoder, optimizers, loss_func, X, y))


if __name__ == "__main__":
    main()
