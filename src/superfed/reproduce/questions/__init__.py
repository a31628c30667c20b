"""What the paper leaves open: each question a sweep, its numbers, and the answer that they give."""
