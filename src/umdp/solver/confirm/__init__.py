"""From what the solver says to what the judge confirms: candidates are shown to it, moved outwards where rounding asks for it.

Nothing here is believed: `umdp.solver.judge` sees the model as given and the vectors, and it alone lets an answer be called
certified.

- `drafts`: reachability, expected rewards, totals; what is done where the judge does not confirm a draft.
- `integers`: chains whose values agree in more digits than two numbers have.
- `products`: products with automata.
- `witness`: vectors with room for rounding, levels of traps.

What `infinite_horizon` says of discounted sums and long-run averages, it shows to the judge itself.
"""
