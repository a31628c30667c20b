"""Small exact cases that tests share."""
