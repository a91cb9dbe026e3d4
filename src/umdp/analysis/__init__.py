"""What one asks of runs and policies: how often bounds were true, what holds a guarantee back, what playing shows."""
