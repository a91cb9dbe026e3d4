"""From what the solver says to what the judge confirms: candidates are shown to it, moved outwards where rounding asks for it.

Nothing here is believed: `umdp.solver.judge` sees the model as given and the vectors, and it alone lets an answer be called
certified.

- `reaching`: reachability, expected rewards, totals; what is done where the judge does not confirm a draft.
- `digits`: chains whose values agree in more digits than two numbers have, solved in integers.
- `sums`: discounted sums, long-run averages, step-bounded properties.
- `lift`: products with automata.
- `witness`: vectors with room for rounding, levels of traps.
"""
