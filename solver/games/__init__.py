"""What a game is: its rules, its positions, and how both are written."""
