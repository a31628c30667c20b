"""The report as one HTML file: what it says, in Python, and how it is drawn and answers, in JavaScript beside it."""
