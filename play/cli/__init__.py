"""The command ttt4-play: one file for each group of its subcommands."""
