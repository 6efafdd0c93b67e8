"""Random numbers inside kernels: a series for each seed and number, so that work can be cut into any portions."""

from solver.kernels.jit import helper


@helper
def seeded(seed, number):
    """Return the beginning of a series of its own for each seed and number: splitmix64's mixing of both."""
    state = seed * -7046029254386353131 + number * -4417276706812531889 + 1442695040888963407
    state = (state ^ (state >> 30 & (1 << 34) - 1)) * -4658895280553007687
    state = (state ^ (state >> 27 & (1 << 37) - 1)) * -7723592293110705685
    state ^= state >> 31 & (1 << 33) - 1
    return state if state else 1


@helper
def next_random(state):
    """Return the next of a series of numbers, which is never 0: Marsaglia's xorshift."""
    state ^= state << 13
    state ^= state >> 7 & (1 << 57) - 1
    state ^= state << 17
    return state


@helper
def below(state, count):
    """Return a number from 0 to count - 1 that a random number stands for."""
    return (state >> 20 & 0xFFFFFF) % count
