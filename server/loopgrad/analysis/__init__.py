"""The analysis: abstract execution of a program over an abstract autograd tape.

* ``where`` places and moments; ``tape`` nodes, tensors, backward; ``values``, ``collected`` what a value is
* ``runtime`` one run, ``decisions`` what it decides, ``undo``, ``undoable`` how a try is taken back, ``signals`` what ends it
* ``nesting`` what lies inside of a value; ``definitions`` what an entry point needs of its module
* ``lower`` Python lowered to closures; ``semantics`` what its operations mean
* ``torch_model`` what torch's operations record; ``libraries`` what other libraries do; ``knowledge`` the measured table
* ``observation``, ``observe``, ``stories``, ``growth``, ``holders``, ``walked``, ``sequences``, ``cuts``, ``settling``,
  ``finish`` what goes wrong
* ``entries``, ``bodies``, ``screening``, ``explore`` which runs there are; ``paths`` running one, ``reruns`` those beside them
* ``verdicts`` what the runs saw together, ``recurring`` what is asked anew each time; ``shared`` what outlives a run

Nothing here reads files or imports torch.
"""
