"""Real federations: the same methods where the clients are machines of their own."""
