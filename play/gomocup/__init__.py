"""The Gomocup protocol, by which programs of gomoku and their managers speak: ttt4 is either."""
