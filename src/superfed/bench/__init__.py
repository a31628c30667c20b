"""How fast the engine is: beside plain PyTorch loops in the same process, and beside what the machine allows."""
