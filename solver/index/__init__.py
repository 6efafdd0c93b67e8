"""The index: symmetries, canonical forms, and the place of every position."""
