"""One run spread over a Ray cluster: its lanes are computed there, and everything else where the program was started."""
