"""Compilation with numba: one set of options, the cache of compiled kernels, and bit operations."""
