"""What to answer: a position's score, its moves and why, from a store or by live search."""
