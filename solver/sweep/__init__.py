"""The second solver: retrograde analysis, layer by layer."""
