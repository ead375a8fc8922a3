import collections
import random

import torch
import torch.nn.functional as F


class ReplayBuffer:
    def __init__(self, capacity):
        self.buffer = collections.deque(maxlen=capacity)

    def add(self, state, action, reward, next_state, done):
        self.buffer.append((state, action, reward, next_state, done))

    def sample(self, batch_size):
        state, action, reward, next_state, done = zip(*random.sample(self.buffer, batch_size))
        return state, action, reward, next_state, done

    def size(self):
        return len(self.buffer)


class Qnet(torch.nn.Module):
    def __init__(self, state_dim, hidden_dim, action_dim):
        super().__init__()
        self.fc1 = torch.nn.Linear(state_dim, hidden_dim)
        self.fc2 = torch.nn.Linear(hidden_dim, action_dim)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class DQN:
    def __init__(self, state_dim, hidden_dim, action_dim, learning_rate, gamma, epsilon, target_update):
        self.action_dim = action_dim
        self.q_net = Qnet(state_dim, hidden_dim, action_dim)
        self.target_q_net = Qnet(state_dim, hidden_dim, action_dim)
        self.optimizer = torch.optim.Adam(self.q_net.parameters(), lr=learning_rate)
        self.gamma, self.epsilon = gamma, epsilon
        self.target_update, self.count = target_update, 0

    def take_action(self, state):
        if random.random() < self.epsilon:
            return random.randrange(self.action_dim)
        return self.q_net(torch.tensor([state], dtype=torch.float)).argmax().item()

    def update(self, transition):
        states = torch.tensor(transition[0], dtype=torch.float)
        actions = torch.tensor(transition[1]).view(-1, 1)
        rewards = torch.tensor(transition[2], dtype=torch.float).view(-1, 1)
        next_states = torch.tensor(transition[3], dtype=torch.float)
        dones = torch.tensor(transition[4], dtype=torch.float).view(-1, 1)

        q_values = self.q_net(states).gather(1, actions)
        max_next_q_values = self.target_q_net(next_states).max(1)[0].view(-1, 1)
        q_targets = rewards + self.gamma * max_next_q_values * (1 - dones)
        dqn_loss = torch.mean(F.mse_loss(q_values, q_targets))
        self.optimizer.zero_grad()
        dqn_loss.backward()
        self.optimizer.step()

        if self.count % self.target_update == 0:
            self.target_q_net.load_state_dict(self.q_net.state_dict())
        self.count += 1


random.seed(0)
torch.manual_seed(0)
replay_buffer = ReplayBuffer(200)
agent = DQN(2, 16, 2, 2e-3, 0.98, 0.3, 3)
n_episodes = 4
return_list = []
for i_episode in range(n_episodes):
    state, episode_return, done, t = [random.uniform(-1, 1), 0.0], 0.0, False, 0
    while not done:
        action = agent.take_action(state)
        velocity = state[1] + (0.1 if action else -0.1)
        next_state = [state[0] + velocity, velocity]
        reward, t = -abs(next_state[0]), t + 1
        done = t == 10
        replay_buffer.add(state, action, reward, next_state, done)
        state = next_state
        episode_return += reward
        if replay_buffer.size() > 8:
            agent.update(replay_buffer.sample(8))
    return_list.append(episode_return)
print(return_list)
