"""A reproduction on several GPUs, on paper: which tasks it becomes, when each would run, and what that costs."""
