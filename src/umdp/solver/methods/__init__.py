"""The methods that solve one component, and those that put components together."""
