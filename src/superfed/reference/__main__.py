"""python -m superfed.reference docs: write the pages that are made from the program into the folder of the others."""

import sys
from pathlib import Path

from superfed.reference.api_page import api_page
from superfed.reference.config_page import config_page
from superfed.store.files import write_text

PAGES = {"config-reference.md": config_page, "api.md": api_page}


def main() -> None:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python -m superfed.reference FOLDER")
    for name, page in PAGES.items():
        write_text(Path(sys.argv[1]) / name, page())


if __name__ == "__main__":
    main()
