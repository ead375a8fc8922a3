"""Shapes of training in which two passes meet: shared trunks, adversaries, things computed outside the loop."""

from __future__ import annotations

from .draft import Draft, Lines, Parts, block
from .loops import epochs, loop
from .models import model
from .tensors import cut, loss_of, maybe_cut, operation, optimizer, update


def adversarial(d: Draft) -> Parts:
    """A generator and a discriminator with a step each."""
    gen, dis = d.fresh("G", "generator", "netG"), d.fresh("D", "discriminator", "netD")
    og, od = d.fresh("opt_g", "optimizerG"), d.fresh("opt_d", "optimizerD")
    fake, lg, ld = d.fresh("fake", "fake_imgs"), d.fresh("g_loss", "errG"), d.fresh("d_loss", "errD")

    def body(i: str, x: str, y: str) -> Lines:
        noise = d.pick([f"torch.randn_like({x})", "torch.randn(4, 3)", y])
        make = [f"{fake} = {gen}({noise})"]
        if d.careful() and d.chance(0.15):
            make = block("with torch.no_grad():", make)
        shown = maybe_cut(d, fake)
        d_part = [
            f"{ld} = {dis}({shown}).mean() - {dis}({x}).mean()"
            if d.chance(0.5)
            else f"{ld} = F.softplus({dis}({shown})).mean() + F.softplus(-{dis}({x})).mean()"
        ]
        if d.chance(0.25):
            real, fk = d.fresh("d_real", "errD_real"), d.fresh("d_fake", "errD_fake")
            d_part = [
                f"{real} = F.softplus(-{dis}({x})).mean()",
                f"{real}.backward()",
                f"{fk} = F.softplus({dis}({shown})).mean()",
                f"{fk}.backward()",
                f"{ld} = {real} + {fk}",
                f"{od}.step()",
                f"{od}.zero_grad()",
            ]
        else:
            d_part += update(d, ld, od, retain=d.chance(0.15))
        again = [f"{fake} = {gen}({noise})"] if d.chance(0.2) or not d_part else []
        score = d.pick(
            [
                f"-{dis}({fake}).mean()",
                f"F.softplus(-{dis}({fake})).mean()",
                f"-{dis}({fake}).mean() + ({fake} - {y}).abs().mean()",
            ]
        )
        if d.chance(0.1):
            score = f"-{ld}"
        g_part = [*again, f"{lg} = {score}", *update(d, lg, og)]
        if d.chance(0.3):
            g_part = block(f"if {i} % 2 == 0:", g_part)
        return [*make, *g_part, *d_part] if d.chance(0.2) else [*make, *d_part, *g_part]

    before, run = loop(d, body)
    setup = [
        f"{gen} = {model(d, 'Generator', 'Gen')}",
        f"{dis} = {model(d, 'Critic', 'Disc')}",
        f"{og} = {optimizer(d, f'{gen}.parameters()')}",
        f"{od} = {optimizer(d, f'{dis}.parameters()')}",
    ]
    return Parts([*setup, *before], epochs(d, run))


def actor_critic(d: Draft) -> Parts:
    """A policy and a value that may share a trunk, with one optimizer or two."""
    trunk, actor, critic = d.fresh("trunk", "body"), d.fresh("actor", "pi"), d.fresh("critic", "vf")
    oa, oc = d.fresh("actor_opt", "opt_a"), d.fresh("critic_opt", "opt_c")
    la, lc = d.fresh("policy_loss", "actor_loss"), d.fresh("value_loss", "critic_loss")
    d.use("from torch.distributions import Categorical")

    def body(i: str, x: str, y: str) -> Lines:
        feat, value, dist, act, adv = (
            d.fresh("feat", "z"),
            d.fresh("value", "v"),
            d.fresh("dist", "pd"),
            d.fresh("action", "a"),
            d.fresh("adv", "advantage", "delta"),
        )
        shared = d.chance(0.6)
        lines = [f"{feat} = {trunk}({x})"] if shared else [f"{feat} = {x}"]
        lines += [
            f"{dist} = Categorical(logits={actor}({feat}))",
            f"{act} = {dist}.sample()",
            f"{value} = {critic}({feat if d.chance(0.7) else cut(d, feat)}).mean(dim=1)",
        ]
        lines += [f"{adv} = {y}.sum(dim=1) - {value}"]
        lines += [
            f"{la} = -({dist}.log_prob({act}) * {maybe_cut(d, adv)}).mean()",
            f"{lc} = {d.pick([f'{adv}.pow(2).mean()', f'F.mse_loss({value}, {y}.sum(dim=1))'])}",
        ]
        if d.chance(0.25):
            lines += [f"{la} = {la} - 0.01 * {dist}.entropy().mean()"]
        form = d.pick(
            {
                "one backward": 3 if d.careful() else 0.7,
                "two, then steps": 2,
                "step between": 2,
                "two optimizers": 1,
            },
            "two losses",
        )
        retain = "retain_graph=True" if d.chance(0.35) else ""
        if form == "one backward":
            return [*lines, f"{oa}.zero_grad()", f"({la} + 0.5 * {lc}).backward()", f"{oa}.step()"]
        if form == "two, then steps":
            return [
                *lines,
                f"{oa}.zero_grad()",
                f"{la}.backward({retain})",
                f"{lc}.backward()",
                f"{oa}.step()",
            ]
        if form == "step between":
            return [
                *lines,
                f"{oa}.zero_grad()",
                f"{la}.backward({retain})",
                f"{oa}.step()",
                f"{oc}.zero_grad()",
                f"{lc}.backward()",
                f"{oc}.step()",
            ]
        return [
            *lines,
            f"{oc}.zero_grad()",
            f"{lc}.backward({retain})",
            f"{oc}.step()",
            f"{oa}.zero_grad()",
            f"{la}.backward()",
            f"{oa}.step()",
        ]

    before, run = loop(d, body)
    setup = [
        f"{trunk} = {d.pick(['nn.Linear(3, 3)', 'nn.Sequential(nn.Linear(3, 3), nn.ReLU())'])}",
        f"{actor} = nn.Linear(3, 3)",
        f"{critic} = nn.Linear(3, 3)",
        f"{oa} = {optimizer(d, f'list({trunk}.parameters()) + list({actor}.parameters())')}",
        f"{oc} = {optimizer(d, f'{critic}.parameters()')}",
    ]
    return Parts([*setup, *before], epochs(d, run))


def features(d: Draft) -> Parts:
    """Something computed once before the loop: features, an embedding, a prior, a kernel, a penalty."""
    enc, head, opt, feats, loss = (
        d.fresh("encoder", "backbone"),
        d.fresh("head", "classifier"),
        d.fresh("optimizer", "opt"),
        d.fresh("feats", "features", "emb"),
        d.fresh("loss", "l"),
    )
    what = d.pick(
        {
            "features": 3,
            "parameter made outside": 2,
            "penalty": 1,
            "per epoch": 1.5,
            "view of a parameter": 0.8,
        },
        "outside the loop",
    )
    setup = [f"{enc} = {model(d, 'Encoder', 'Backbone')}", f"{head} = nn.Linear(3, 3)"]
    frozen = d.careful()
    how = (
        d.pick(
            {"no_grad": 3, "detach": 3, "frozen": 2, "eval and no_grad": 1, "decorated": 1, "inference": 0.2},
            "feature extraction",
        )
        if frozen
        else "live"
    )
    data = "torch.randn(4, 3)"
    making: Lines
    if what == "parameter made outside":
        raw = d.fresh("raw", "log_scale", "alpha")
        setup += [f"{raw} = nn.Parameter(torch.randn(4, 3))"]
        making = [f"{feats} = {operation(d, raw)}"]
        if frozen:
            making = [f"{feats} = {raw}"]
        params = f"[{raw}, *{head}.parameters()]"
    elif what == "view of a parameter":
        raw = d.fresh("raw", "table")
        setup += [f"{raw} = nn.Parameter(torch.randn(4, 3))"]
        making = [f"{feats} = {d.pick([f'{raw}.view(4, 3)', f'{raw}[:]', f'{raw}.t().t()', f'{raw} + 0'])}"]
        params = f"[{raw}, *{head}.parameters()]"
    elif what == "penalty":
        making = [
            f"{feats} = {d.pick([f'sum(p.pow(2).sum() for p in {head}.parameters())', f'{head}.weight.norm()', f'{head}.weight.sum()'])}"
        ]
        params = f"{head}.parameters()"
    else:
        making = [f"{feats} = {enc}({data})"]
        params = d.pick([f"{head}.parameters()", f"[*{enc}.parameters(), *{head}.parameters()]"])
        if how == "no_grad":
            making = block("with torch.no_grad():", making)
        elif how == "eval and no_grad":
            making = [f"{enc}.eval()", *block("with torch.no_grad():", making)]
        elif how == "inference":
            making = [*block("with torch.inference_mode():", making), f"{feats} = {feats}.clone()"]
        elif how == "detach":
            making = [f"{feats} = {cut(d, f'{enc}({data})')}"]
        elif how == "frozen":
            freeze = d.pick(
                [
                    f"{enc}.requires_grad_(False)",
                    f"for p in {enc}.parameters(): p.requires_grad = False",
                    f"for p in {enc}.parameters(): p.requires_grad_(False)",
                ]
            )
            making = [freeze, *making]
        elif how == "decorated":
            d.define(
                f"@torch.no_grad()\ndef extract(net, x):\n{'    net.eval()' if d.chance(0.5) else '    x = x * 1.0'}\n    return net(x)"
            )
            making = [f"{feats} = extract({enc}, {data})"]
        elif d.chance(0.25):
            making += [f"{enc}.requires_grad_(False)"]
    setup += [f"{opt} = {optimizer(d, params)}"]

    def body(i: str, x: str, y: str) -> Lines:
        uses = ["{h}({f})", "{h}({x}) * {f}", "{h}({x}) + {f}", "{h}({x} + {f})"]
        if what == "penalty":
            lines = [f"{loss} = {loss_of(d, f'{head}({x})', y)} + 0.1 * {feats}"]
        else:
            lines = [f"{loss} = {loss_of(d, d.pick(uses).format(h=head, f=feats, x=x), y)}"]
        return [*lines, *update(d, loss, opt)]

    before, run = loop(d, body)
    if what == "per epoch":
        e = d.fresh("epoch", "ep")
        return Parts([*setup, *before], block(f"for {e} in range(2):", [*making, *run]))
    return Parts([*setup, *before, *making], epochs(d, run))


def many_tasks(d: Draft) -> Parts:
    """Several losses over one trunk: summed, one after another, weighted, or with a gradient each."""
    trunk, heads, opt = d.fresh("shared", "trunk"), d.fresh("heads", "tasks"), d.fresh("optimizer", "opt")

    def body(i: str, x: str, y: str) -> Lines:
        z, losses, total, n = (
            d.fresh("z", "rep"),
            d.fresh("losses", "task_losses"),
            d.fresh("total", "loss"),
            d.fresh("n", "name"),
        )
        lines = [f"{z} = {trunk}({x})"]
        form = d.pick(
            {
                "summed": 3 if d.careful() else 1,
                "in a loop": 1.5,
                "retained": 2,
                "retained but the last": 1.5,
                "recomputed": 1,
                "backward of all": 0.7,
                "grad each": 0.8,
            },
            "tasks",
        )
        one = f"{loss_of(d, f'{heads}[{n}]({z})', y)}"
        if form == "summed":
            lines += [
                f"{losses} = {{}}",
                *block(f"for {n} in {heads}:", [f"{losses}[{n}] = {one}"]),
                f"{total} = sum({losses}.values())",
                f"{opt}.zero_grad()",
                f"{total}.backward()",
            ]
        elif form == "in a loop":
            lines += [
                f"{opt}.zero_grad()",
                *block(f"for {n} in {heads}:", [f"{total} = {one}", f"{total}.backward()"]),
            ]
        elif form == "retained":
            lines += [
                f"{opt}.zero_grad()",
                *block(f"for {n} in {heads}:", [f"{total} = {one}", f"{total}.backward(retain_graph=True)"]),
            ]
        elif form == "retained but the last":
            k = d.fresh("k", "idx")
            lines += [
                f"{opt}.zero_grad()",
                *block(
                    f"for {k}, {n} in enumerate({heads}):",
                    [
                        f"{total} = {one}",
                        f"{total}.backward(retain_graph={k} < {d.pick(['len(' + heads + ') - 1', '1', '0'])})",
                    ],
                ),
            ]
        elif form == "recomputed":
            lines += [
                f"{opt}.zero_grad()",
                *block(
                    f"for {n} in {heads}:", [f"{z} = {trunk}({x})", f"{total} = {one}", f"{total}.backward()"]
                ),
            ]
        elif form == "grad each":
            params = d.fresh("params", "shared_params")
            lines += [
                f"{params} = list({trunk}.parameters())",
                f"{losses} = [{one} for {n} in {heads}]",
                f"gs = [torch.autograd.grad(l, {params}{', retain_graph=True' if d.chance(0.6) else ''}) for l in {losses}]",
                *block(f"for p, *g in zip({params}, *gs):", ["p.grad = sum(g)"]),
            ]
        else:
            lines += [f"{opt}.zero_grad()", f"torch.autograd.backward([{one} for {n} in {heads}])"]
        return [*lines, f"{opt}.step()"]

    before, run = loop(d, body)
    setup = [
        f"{trunk} = {model(d)}",
        f'{heads} = nn.ModuleDict({{"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)}})',
        f"{opt} = {optimizer(d, f'[*{trunk}.parameters(), *{heads}.parameters()]')}",
    ]
    return Parts([*setup, *before], epochs(d, run))
