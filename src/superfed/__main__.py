"""``python -m superfed`` is ``superfed``."""

from superfed.cli.main import main

if __name__ == "__main__":
    main()
