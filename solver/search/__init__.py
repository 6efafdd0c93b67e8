"""The first solver: alpha-beta search."""
