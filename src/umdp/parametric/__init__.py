"""Models whose probabilities are functions of parameters: functions, boxes, and what data leave of them.

`function` is exact. `ranges` bounds functions over boxes, from outside; `contraction` cuts off what constraints
exclude. `box_kernels` are compiled, in floats whose rounding is bounded.
"""
