"""What travels between the server and a site, and what is refused."""
