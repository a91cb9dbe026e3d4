"""Every compiled function of the solver but those of the judge, grouped by what they do."""
