"""What the graph alone decides: attractors, end components, sets of value 0, 1 and infinity."""
