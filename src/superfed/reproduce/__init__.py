"""The paper's tables and figures, run again and laid beside what was published."""
