"""What is true: rules, symmetry, index, the two solvers and the store."""

__version__ = "0.1.0"
