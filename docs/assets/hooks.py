"""What the site needs beyond MkDocs: patterns in the navigation, and links that lead out of docs/.

A nav entry with a star stands for all pages that match it and are not named beside it. A page may link to any file of the
repository, as a code host shows it; such a file is put into the site below ``repository/``, and the link is led there.
"""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LINK = re.compile(r"(?<=\]\()([^)#\s]+)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
SHELF = "repository"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = _expanded(config.nav, Path(config.docs_dir))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Every file outside docs/ that a page, or such a file that is a page itself, links to."""
    root = Path(config.docs_dir).parent
    waiting = [file for file in files if file.is_documentation_page()]
    while waiting:
        page = waiting.pop()
        for target in _targets(page.content_string, _in_repository(page.src_uri)):
            uri = f"{SHELF}/{target}"
            if not target.startswith("docs/") and (root / target).is_file() and files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, abs_src_path=str(root / target)))
                if uri.endswith(".md"):
                    waiting.append(files.src_uris[uri])
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    here = _in_repository(page.file.src_uri)

    def led(link: re.Match[str]) -> str:
        if ":" in link[0]:
            return link[0]
        target = _target(link[0], here)
        return os.path.relpath(_in_site(target), os.path.dirname(page.file.src_uri) or ".")

    parts, done = [], 0
    for code in CODE.finditer(markdown):
        parts += [LINK.sub(led, markdown[done : code.start()]), code[0]]
        done = code.end()
    return "".join([*parts, LINK.sub(led, markdown[done:])])


def _targets(markdown: str, here: str) -> set[str]:
    return {_target(link, here) for link in LINK.findall(CODE.sub("", markdown)) if ":" not in link}


def _target(link: str, here: str) -> str:
    """What a link on the page ``here`` means, both as paths in the repository."""
    return os.path.normpath(os.path.join(os.path.dirname(here), link))


def _in_repository(uri: str) -> str:
    return uri.removeprefix(f"{SHELF}/") if uri.startswith(f"{SHELF}/") else f"docs/{uri}"


def _in_site(target: str) -> str:
    return target.removeprefix("docs/") if target.startswith("docs/") else f"{SHELF}/{target}"


def _expanded(entry: Any, docs: Path) -> Any:
    if isinstance(entry, dict):
        return {title: _expanded(inside, docs) for title, inside in entry.items()}
    if not isinstance(entry, list):
        return entry
    found: list[Any] = []
    for one in entry:
        if isinstance(one, str) and "*" in one:
            matching = [str(path.relative_to(docs)) for path in sorted(docs.glob(one))]
            found += [page for page in matching if page not in entry]
        else:
            found.append(_expanded(one, docs))
    return found
