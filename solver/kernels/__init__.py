"""Compiling: the one set of numba options, the cache of compiled kernels, and bit operations."""
