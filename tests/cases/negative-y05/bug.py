import torch
import torch.nn as nn
import torch.nn.functional as F


class DeepMulti(nn.Module):
    def __init__(self, n_classes=4):
        super().__init__()
        self.layer = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.layer5, self.layer6 = nn.Conv2d(8, n_classes, 1), nn.Conv2d(8, n_classes, 1)

    def forward(self, x):
        x = self.layer(x)
        return self.layer5(x), self.layer6(torch.relu(x - 0.1))


def fc_discriminator(n=4):
    return nn.Sequential(nn.Conv2d(n, 8, 4, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3))


def main(n_iters):
    torch.manual_seed(0)
    model, model_D1, model_D2 = DeepMulti(), fc_discriminator(), fc_discriminator()
    optimizer = torch.optim.SGD(model.parameters(), lr=2.5e-2, momentum=0.9)
    optimizer_D = torch.optim.Adam([*model_D1.parameters(), *model_D2.parameters()], lr=1e-4)
    bce = nn.BCEWithLogitsLoss()
    source_label, target_label = 0.0, 1.0
    for i_iter in range(n_iters):
        optimizer.zero_grad()
        optimizer_D.zero_grad()
        for D in (model_D1, model_D2):
            for param in D.parameters():
                param.requires_grad = False

        images, labels = torch.rand(2, 3, 12, 12), torch.randint(4, (2, 12, 12))
        pred1, pred2 = model(images)
        loss = F.cross_entropy(pred2, labels) + 0.1 * F.cross_entropy(pred1, labels)
        loss.backward()

        pred_target1, pred_target2 = model(torch.rand(2, 3, 12, 12))
        loss_adv = 0
        for D, pred, weight in ((model_D1, pred_target1, 0.0002), (model_D2, pred_target2, 0.001)):
            D_out = D(F.softmax(pred, dim=1))
            loss_adv = loss_adv + weight * bce(D_out, torch.full_like(D_out, source_label))
        loss_adv.backward()

        for D in (model_D1, model_D2):
            for param in D.parameters():
                param.requires_grad = True
        pred1, pred2 = pred1.detach(), pred2.detach()
        for D, pred in ((model_D1, pred1), (model_D2, pred2)):
            D_out = D(F.softmax(pred, dim=1))
            loss_D = bce(D_out, torch.full_like(D_out, source_label)) / 2
            loss_D.backward()
        pred_target1, pred_target2 = pred_target1.detach(), pred_target2.detach()
        for D, pred in ((model_D1, pred_target1), (model_D2, pred_target2)):
            D_out = D(F.softmax(pred, dim=1))
            loss_D = bce(D_out, torch.full_like(D_out, target_label)) / 2
            loss_D.backward()
        optimizer.step()
        optimizer_D.step()
        print(i_iter, loss.item(), loss_D.item())


n_iters = 4
main(n_iters)
