"""Where every position has its place, up to symmetry."""
