"""Finished runs laid side by side: numbers, a table for the terminal, an HTML page. Needs the store and no torch."""
