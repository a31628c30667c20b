"""The server of a federation: rounds, who is asked, what is taken in, what is kept."""
