"""What the rules and their fixes say, in English."""

MESSAGES = {
    # Lists of names
    "names.one": "'{a}'",
    "names.two": "'{a}' and '{b}'",
    "names.three": "'{a}', '{b}' and '{c}'",
    "names.more": "'{a}', '{b}' and {count} more",
    # Places
    "line.line": "line {line}",
    "line.cell": "line {line} of cell {cell}",
    "line.file": "{where} of {file}",
    # What changes a tensor in place
    "change.step": "the optimizer's step()",
    "change.load_state_dict": "load_state_dict()",
    "change.setitem": "an assignment to a part of it",
    "change.init": "an initialisation",
    "change.vector_to_parameters": "vector_to_parameters()",
    "change.call": "{what}()",
    "change.other": "an in-place operation",
    # What takes a graph away
    "cut.detach": "this detach()",
    "cut.no_grad": "this no_grad block",
    "cut.item": "turning the tensor into a number with item()",
    "cut.op": "{what}(), which has no gradient,",
    "cut.numpy": "the way through numpy",
    "cut.tensor": "making a new tensor with {what}()",
    "cut.other": "this statement",
    # LG101
    "LG101.second-backward.one": (
        "{names} carries the graph of iteration {then} into iteration {now}, whose backward() walks a part "
        "that an earlier backward() has freed."
    ),
    "LG101.second-backward.many": (
        "{names} carry the graph of iteration {then} into iteration {now}, whose backward() walks a part "
        "that an earlier backward() has freed."
    ),
    "LG101.second-backward.none": (
        "The graph built here in iteration {then} is reached again by the backward() of iteration {now}, "
        "after an earlier backward() has freed it."
    ),
    "LG101.second-backward.calls.one": (
        "{names} carries the graph of one call into the next, whose backward() walks a part that has been "
        "freed already."
    ),
    "LG101.second-backward.calls.many": (
        "{names} carry the graph of one call into the next, whose backward() walks a part that has been "
        "freed already."
    ),
    "LG101.second-backward.calls.none": (
        "The graph built here in one call is reached again by the backward() of the next, after it has been "
        "freed."
    ),
    "LG101.silent.one": (
        "{names} carries the graph of iteration {then} into iteration {now}, whose backward() walks through "
        "all iterations so far: no exception, but wrong gradients, and each step takes longer."
    ),
    "LG101.silent.many": (
        "{names} carry the graph of iteration {then} into iteration {now}, whose backward() walks through "
        "all iterations so far: no exception, but wrong gradients, and each step takes longer."
    ),
    "LG101.silent.none": (
        "The graph built here in iteration {then} is walked again by the backward() of iteration {now}: no "
        "exception, but wrong gradients, and each step takes longer."
    ),
    "LG101.silent.calls.one": (
        "{names} carries the graph of one call into the next, whose backward() walks through all calls so "
        "far: no exception, but wrong gradients, and each step takes longer."
    ),
    "LG101.silent.calls.many": (
        "{names} carry the graph of one call into the next, whose backward() walks through all calls so "
        "far: no exception, but wrong gradients, and each step takes longer."
    ),
    "LG101.silent.calls.none": (
        "The graph built here in one call is walked again by the backward() of the next: no exception, but "
        "wrong gradients, and each step takes longer."
    ),
    # LG102
    "LG102.second-backward.one": (
        "{names} is computed once, outside the loop of {loop}, but the backward() of every iteration walks "
        "its graph, which the first one frees."
    ),
    "LG102.second-backward.many": (
        "{names} are computed once, outside the loop of {loop}, but the backward() of every iteration walks "
        "their graph, which the first one frees."
    ),
    "LG102.second-backward.none": (
        "This is computed once, outside the loop of {loop}, but the backward() of every iteration walks its "
        "graph, which the first one frees."
    ),
    "LG102.second-backward.calls.one": (
        "{names} is computed once, but the backward() of every call walks its graph, which the first one frees."
    ),
    "LG102.second-backward.calls.many": (
        "{names} are computed once, but the backward() of every call walks their graph, which the first one "
        "frees."
    ),
    "LG102.second-backward.calls.none": (
        "This is computed once, but the backward() of every call walks its graph, which the first one frees."
    ),
    "LG102.silent.one": (
        "{names} is computed once, outside the loop of {loop}: no exception, but the loss never sees what "
        "the optimizer does to the parameters behind it."
    ),
    "LG102.silent.many": (
        "{names} are computed once, outside the loop of {loop}: no exception, but the loss never sees what "
        "the optimizer does to the parameters behind them."
    ),
    "LG102.silent.none": (
        "This is computed once, outside the loop of {loop}: no exception, but the loss never sees what the "
        "optimizer does to the parameters behind it."
    ),
    "LG102.silent.calls.one": (
        "{names} is computed once, not in every call: no exception, but the loss never sees what the "
        "optimizer does to the parameters behind it."
    ),
    "LG102.silent.calls.many": (
        "{names} are computed once, not in every call: no exception, but the loss never sees what the "
        "optimizer does to the parameters behind them."
    ),
    "LG102.silent.calls.none": (
        "This is computed once, not in every call: no exception, but the loss never sees what the optimizer "
        "does to the parameters behind it."
    ),
    "LG102.eval": "{said} eval() does not stop the recording of a graph; torch.no_grad() does.",
    # LG103
    "LG103.two.one": (
        "{names} is part of two losses: the backward() of {first} frees its graph, and the one of {second} "
        "walks it again."
    ),
    "LG103.two.many": (
        "{names} are part of two losses: the backward() of {first} frees their graph, and the one of "
        "{second} walks it again."
    ),
    "LG103.two.none": (
        "What is used here is part of two losses: the backward() of {first} frees its graph, and the one of "
        "{second} walks it again."
    ),
    "LG103.same-line.one": (
        "{names} is part of several losses: the first backward() frees its graph, and the next one walks it "
        "again."
    ),
    "LG103.same-line.many": (
        "{names} are part of several losses: the first backward() frees their graph, and the next one walks "
        "it again."
    ),
    "LG103.same-line.none": (
        "What is used here is part of several losses: the first backward() frees its graph, and the next one "
        "walks it again."
    ),
    "LG103.again.one": "backward() is called a second time on {names}, whose graph the first call has freed.",
    "LG103.again.many": "backward() is called a second time on {names}, whose graph the first call has freed.",
    "LG103.again.none": "backward() is called a second time over a graph that the first call has freed.",
    # LG104
    "LG104.carried.one": (
        "{names} carries a graph into iteration {now}, whose backward() needs values that {what} at {line} "
        "has changed in place since."
    ),
    "LG104.carried.many": (
        "{names} carry a graph into iteration {now}, whose backward() needs values that {what} at {line} has "
        "changed in place since."
    ),
    "LG104.carried.none": (
        "The graph built here is walked in iteration {now} by a backward() that needs values that {what} at "
        "{line} has changed in place since."
    ),
    "LG104.carried.somewhere.one": (
        "{names} carries a graph into iteration {now}, whose backward() needs values that have been changed "
        "in place since."
    ),
    "LG104.carried.somewhere.many": (
        "{names} carry a graph into iteration {now}, whose backward() needs values that have been changed in "
        "place since."
    ),
    "LG104.carried.somewhere.none": (
        "The graph built here is walked in iteration {now} by a backward() that needs values that have been "
        "changed in place since."
    ),
    "LG104.outside.one": (
        "{names} is computed once, but the backward() of every iteration needs values of its graph that "
        "{what} at {line} changes in place."
    ),
    "LG104.outside.many": (
        "{names} are computed once, but the backward() of every iteration needs values of their graph that "
        "{what} at {line} changes in place."
    ),
    "LG104.outside.none": (
        "This is computed once, but the backward() of every iteration needs values of its graph that {what} "
        "at {line} changes in place."
    ),
    "LG104.outside.somewhere.one": (
        "{names} is computed once, but the backward() of every iteration needs values of its graph that are "
        "changed in place in between."
    ),
    "LG104.outside.somewhere.many": (
        "{names} are computed once, but the backward() of every iteration needs values of their graph that "
        "are changed in place in between."
    ),
    "LG104.outside.somewhere.none": (
        "This is computed once, but the backward() of every iteration needs values of its graph that are "
        "changed in place in between."
    ),
    "LG104.within.one": (
        "{names} is built from values that {what} at {line} changes in place before the backward() that "
        "needs them."
    ),
    "LG104.within.many": (
        "{names} are built from values that {what} at {line} changes in place before the backward() that "
        "needs them."
    ),
    "LG104.within.none": (
        "What is built here needs values for its backward() that {what} at {line} changes in place before it."
    ),
    "LG104.within.somewhere.one": (
        "{names} is built from values that are changed in place before the backward() that needs them."
    ),
    "LG104.within.somewhere.many": (
        "{names} are built from values that are changed in place before the backward() that needs them."
    ),
    "LG104.within.somewhere.none": (
        "What is built here needs values for its backward() that are changed in place before it."
    ),
    # Growth
    "weight.nodes": (
        "A backward() has run over these graphs, so only their nodes stay: little memory, but more with "
        "every iteration."
    ),
    "weight.activations": ("No backward() runs over them, so all their activations stay, until memory ends."),
    "weight.retained": ("retain_graph=True keeps all that they have saved, until memory ends."),
    "LG201.grows.one": "{names} keeps the graph of every iteration alive. {weight}",
    "LG201.grows.many": "{names} keep the graph of every iteration alive. {weight}",
    "LG201.grows.none": "What is stored here keeps the graph of every iteration alive. {weight}",
    "LG201.circle": (
        "create_graph=True gives the gradient of the tensor that each iteration makes a graph that leads back to the "
        "tensor. Each keeps the other alive until the gradient is set to None. {weight}"
    ),
    "LG201.gradient": (
        "create_graph=True gives the gradients graphs of their own. They are added to those of the iterations "
        "before, which stay alive. {weight}"
    ),
    "LG203.grows.one": (
        "{names} keeps the graph of every iteration alive, with all activations: no backward() ever frees "
        "them."
    ),
    "LG203.grows.many": (
        "{names} keep the graph of every iteration alive, with all activations: no backward() ever frees "
        "them."
    ),
    "LG203.grows.none": (
        "What is stored here keeps the graph of every iteration alive, with all activations: no "
        "backward() ever frees them."
    ),
    "LG203.eval": "{said} eval() does not stop the recording of a graph; torch.no_grad() does.",
    "LG204.records": (
        "This evaluation records a graph that nothing uses: while a batch is computed, all its activations "
        "are held. torch.no_grad() saves that."
    ),
    # LG202
    "LG202.unneeded": (
        "Nothing needs the graph after this backward(): retain_graph=True only keeps it in memory for longer."
    ),
    "LG202.hides": (
        "retain_graph=True hides that the backward() of every iteration walks a graph that was built in an "
        "earlier one or outside the loop."
    ),
    "LG205.rerun": (
        "Running this cell a second time raises: its first run frees the graph, which an earlier cell has "
        "built."
    ),
    # LG301
    "LG301.detach": "This detach() leaves the loss without a graph, so that the backward() of {raised} raises.",
    "LG301.no_grad": (
        "This no_grad leaves the loss without a graph, so that the backward() of {raised} raises."
    ),
    "LG301.item": (
        "item() makes a number of the tensor: the loss has no graph, and the backward() of {raised} raises."
    ),
    "LG301.op": (
        "{what}() has no gradient: the loss has no graph, and the backward() of {raised} raises. The loss "
        "needs a smooth form of it."
    ),
    "LG301.numpy": (
        "The way through numpy leaves the loss without a graph, so that the backward() of {raised} raises."
    ),
    "LG301.tensor": (
        "{what}() makes a new tensor without a graph, so that the backward() of {raised} raises."
    ),
    "LG301.frozen": (
        "Nothing that the loss is computed from requires a gradient here, so that the backward() of {raised} "
        "raises."
    ),
    "LG301.unknown": "The loss has no graph, so that this backward() raises.",
    # LG302 to LG304
    "LG302.optimizer": "No backward() reaches a parameter of the optimizer: {what} stands between them and the loss.",
    "LG302.group": (
        "No backward() reaches a parameter of one of the optimizer's groups: {what} stands between them and "
        "the loss."
    ),
    "LG303.leaf.one": (
        "{names} is a leaf that requires a gradient; changing it in place outside of torch.no_grad() raises."
    ),
    "LG303.leaf.many": (
        "{names} are leaves that require a gradient; changing them in place outside of torch.no_grad() raises."
    ),
    "LG303.leaf.none": (
        "This changes a leaf that requires a gradient in place, which raises outside of torch.no_grad()."
    ),
    "LG304.leaf.one": (
        "{names} has lost its graph and is made a leaf here: backward() raises no more, but no parameter gets "
        "a gradient."
    ),
    "LG304.leaf.many": (
        "{names} have lost their graph and are made leaves here: backward() raises no more, but no parameter "
        "gets a gradient."
    ),
    "LG304.leaf.none": (
        "The loss has lost its graph and is made a leaf here: backward() raises no more, but no parameter "
        "gets a gradient."
    ),
    # LG401, LG402
    "LG401.stray.one": "{names} asks for a gradient that nobody reads and no optimizer uses.",
    "LG401.stray.many": "{names} ask for gradients that nobody reads and no optimizer uses.",
    "LG401.stray.none": "This asks for a gradient that nobody reads and no optimizer uses.",
    "LG401.has-graph.one": "{names} has a graph already: requires_grad_() changes nothing here.",
    "LG401.has-graph.many": "{names} have a graph already: requires_grad_() changes nothing here.",
    "LG401.has-graph.none": "This has a graph already: requires_grad_() changes nothing here.",
    "LG402.keeps.one": "The result of detach() is dropped: {names} keeps its graph.",
    "LG402.keeps.many": "The result of detach() is dropped: {names} keep their graph.",
    "LG402.keeps.none": "The result of detach() is dropped: the tensor keeps its graph.",
    "LG402.nothing.one": "The result of detach() is dropped: the statement does nothing to {names}.",
    "LG402.nothing.many": "The result of detach() is dropped: the statement does nothing to {names}.",
    "LG402.nothing.none": "The result of detach() is dropped: the statement does nothing.",
    # The story
    "trace.built": "this builds the part of the graph that is reached again",
    "trace.built-outside": "this builds the graph, once",
    "trace.built-each": "each iteration builds a graph here",
    "trace.freed": "this backward() frees what the graph has saved",
    "trace.carried": "'{name}' takes the graph along",
    "trace.carried-layer": "the layer keeps '{name}', which takes the graph along until the layer is reset or detached",
    "trace.reached": "this backward() walks into the freed part and raises",
    "trace.reached-changed": "this backward() needs the value from before the change and raises",
    "trace.reached-silently": "this backward() walks through the old part again",
    "trace.stored": "'{name}' keeps the graph",
    "trace.kept": "'{name}' keeps it alive",
    "trace.used-again": "this brings it into the second graph",
    "trace.retained": "retain_graph=True keeps the graph",
    "trace.retained-unneeded": "retain_graph=True keeps the graph after this backward()",
    "trace.modified": "{what} changes a value in place that the graph has saved",
    "trace.cut-detach": "detach() ends the graph here",
    "trace.cut-no_grad": "under no_grad no graph is recorded",
    "trace.cut-item": "item() makes a number, without a graph",
    "trace.cut-op": "{what}() has no gradient: the graph ends here",
    "trace.cut-numpy": "numpy knows no graph",
    "trace.cut-tensor": "{what}() makes a new tensor, without a graph",
    "trace.cut-frozen": "nothing here requires a gradient",
    "trace.no-graph": "this backward() finds no graph and raises",
    "trace.leaf-made": "this makes the leaf",
    "trace.leaf-modified": "{what} changes it in place and raises",
    "trace.made-leaf": "this makes a leaf of it",
    "trace.leaf-backward": "this backward() ends at the leaf",
    "trace.optimizer": "the optimizer steps parameters that no backward() reaches",
    "trace.stray": "this asks for a gradient",
    "trace.role.built": "the graph is built here",
    "trace.role.freed": "the graph is freed here",
    "trace.role.carried": "the graph is carried on here",
    "trace.role.reached": "the graph is reached here",
    "trace.role.modified": "a value is changed in place here",
    "trace.role.retained": "the graph is retained here",
    "trace.role.cut": "the graph is cut here",
    "trace.role.stored": "the graph is stored here",
    # What was analysed in part
    "partial.steps": "the analysis stopped here, since the program takes too many steps to follow",
    "partial.depth": "calls are nested too deeply here to be followed",
    "partial.import": "an import could not be followed",
    "partial.other": "the analysis stopped here",
    # Fixes
    "fix.suppress": "Silence {code} on line {line}",
    "fix.stops-training": "{title}; {names} would no longer be trained",
    "fix.this": "this value",
    "fix.detach.store": "Detach {names} at the store",
    "fix.detach.end": "Detach {names} after the backward()",
    "fix.detach.end-again": "Detach {names} after the backward() and let it require a gradient anew",
    "fix.detach.own": "Detach the old {names} where the new value is computed from it",
    "fix.detach.start": "Detach {names} before the next use",
    "fix.detach.use": "Detach {names} where the old value is used",
    "fix.detach.store.none": "Detach the value at the store",
    "fix.detach.end.none": "Detach the value after the backward()",
    "fix.detach.own.none": "Detach the old value where the new one is computed from it",
    "fix.detach.start.none": "Detach the value before the next use",
    "fix.detach.use.none": "Detach the old value where it is used",
    "fix.detach.build": "Detach the value where it is computed",
    "fix.detach.argument": "Detach {names} where it is passed on",
    "fix.detach.again": "Detach {names} at the store and let it require a gradient anew",
    "fix.detach.first-loss": "Detach {names} in the first loss",
    "fix.detach.second-loss": "Detach {names} in the second loss",
    "fix.detach.truncates": "{title} (this truncates backpropagation through time)",
    "fix.item.store": "Store {names} as a number with item() (this waits for a GPU to finish)",
    "fix.no_grad.store": "Compute {names} under torch.no_grad()",
    "fix.no_grad.build": "Compute {names} under torch.no_grad()",
    "fix.no_grad.function": "Run '{name}' under torch.no_grad()",
    "fix.no_grad.loop": "Run the loop under torch.no_grad()",
    "fix.no_grad.statement": "Put the computation of {line} under torch.no_grad()",
    "fix.no_grad.change": "Change it under torch.no_grad()",
    "fix.move-into-loop": "Compute {names} in every iteration of the loop",
    "fix.recompute.property": "Compute {names} each time that it is read",
    "fix.recompute.uncached": "Compute it each time that it is read, without a cache",
    "fix.recompute.again": "Compute {names} again after the step of line {line}, from the weights as they are then",
    "fix.sum-losses": "Call backward() once, on the sum of '{first}' and '{second}'",
    "fix.sum-losses.loop": "Call backward() once, on the sum of '{loss}' over the loop",
    "fix.reorder.freeze": "Freeze before the new part is put in, so that the new part is trained",
    "fix.reorder.build": "Compute {names} after the step of line {line}, from the weights as they are then",
    "fix.reorder.step": (
        "Take the step after the backward() of line {line}, so that both losses see the same weights (the step "
        "then uses the gradients of both)"
    ),
    "fix.remove-retain-graph": "Remove retain_graph=True",
    "fix.and-remove-retain-graph": "{title}, and remove retain_graph=True",
    "fix.out-of-place": "Compute a new {names} instead of changing the old one in place",
    "fix.keep-graph.function": "Record a graph in '{function}', with torch.enable_grad()",
    "fix.keep-graph.undecorate": "Take @{what} off '{function}'",
    "fix.keep-graph.retain": "Keep the graph for the backward() of {line}, with retain_graph=True",
    "fix.detach.use-whole": "Detach '{text}'",
    "fix.recompute.second": "Compute {names} again for the second loss",
    "fix.reorder.group": "Take the step of line {first} after the one of line {second}",
    "fix.reorder.group-earlier": "Take the step of line {first} before the one of line {second}",
    "fix.keep-graph.call": "Remove {what}(), so that the graph goes on",
    "fix.keep-graph.stack": "Stack the losses as tensors, so that the graph goes on",
    "fix.keep-graph.several": "Remove what cuts each part of the loss, so that the graph goes on",
    "fix.keep-graph.block": "Remove the no_grad block, so that a graph is recorded",
    "fix.keep-graph.enable": "Record a graph here, with torch.enable_grad()",
    "fix.keep-graph.and-leaf": "{title}, and do not make the loss a leaf",
    "fix.remove-requires-grad": "Remove requires_grad",
    "fix.assign": "Assign the result to '{name}'",
    "fix.remove-statement": "Remove the statement, which does nothing",
}
