"""The sums over alignments on a GPU: one Triton kernel gives the evidence and all derivatives.

The recursions are those of the compiled core, in the same form and the same float64, since their
columns span a hundred orders of magnitude; times are never rounded, and gradients leave in the type
of the logits. One program takes one sequence: in order, stamp after stamp, each with all instances
of its window at once; without order, as many stamps at a time as fit. Nothing comes back to the
host, so neither sizes nor convergence are known there:

- a stamp's window has a fixed room (`room.py`), which follows the widest one that was seen;
- belief propagation goes on until nothing moves, or for a fixed number of rounds.

Time is that of the longest sequence and memory that of the room: 4 to 8 bytes per cell, and as many
per instance.
"""
