"""The analysis: abstract execution of a program over an abstract autograd tape.

``where`` places and moments · ``tape`` nodes, tensors, backward · ``values`` what a value is · ``runtime`` one
run and its decisions · ``lower`` Python lowered to closures · ``semantics`` what Python's operations mean ·
``torch_model`` what torch's operations record · ``libraries`` what other libraries do · ``observation``, ``observe``,
``stories``, ``growth``, ``finish`` what goes wrong · ``entries``, ``explore`` which runs there are. Nothing here reads files or imports torch.
"""
