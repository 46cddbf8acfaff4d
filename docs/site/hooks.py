"""Pages of the site that are not files of docs/: the front page, the reference, and linked files of the repository.

mkdocs runs these hooks. In the repository, pages link to each other and to sources as files do. Each such file gets a
page of the site:

    README.md                    index.md
    docs/reference.md            reference/index.md
    docs/kbnf.md                 kbnf.md
    benchmarks/README.md         benchmarks/README.md
    structgen/errors.py          source/structgen/errors.py.md, the text with its lines numbered
    structgen/languages          source/structgen/languages.md, the list of its files

and links are rewritten to lead to these pages. A link to a file that does not exist is left as it is, for mkdocs to
report.
"""

from __future__ import annotations

import pathlib
import posixpath
import re
import sys
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # mkdocs loads this file alone

from reference_groups import reference_pages

ROOT = pathlib.Path(__file__).parents[2]
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.DOTALL | re.MULTILINE)
_LEXERS = {".py": "python", ".pxd": "cython", ".kbnf": "ebnf", ".json": "json", ".html": "html"}

_NOT_SEARCHED = "---\nsearch: {exclude: true}\n---\n"  # sources would come before the pages about them

_path_of: dict[str, str] = {}  # the file of the repository that a page of the site shows


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of README, of the reference, and of all files that pages link to."""
    for uri, text in reference_pages().items():
        files.append(File.generated(config, uri, content=text))
    wanted = ["README.md"]
    for file in files.documentation_pages():
        if (ROOT / "docs" / file.src_uri).exists():
            _path_of[file.src_uri] = f"docs/{file.src_uri}"
            wanted += _linked(file.content_string, f"docs/{file.src_uri}")
    while wanted:
        path = wanted.pop()
        uri = _uri(path)
        if uri in _path_of or path.startswith("docs/"):
            continue
        _path_of[uri] = path
        text = _text(path)
        wanted += _linked(text, path)
        listed = path in ("README.md", "benchmarks/README.md")
        level = InclusionLevel.INCLUDED if listed else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, uri, content=text, inclusion=level))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite a page from the Markdown of repositories to that of the site: links, and bars in tables."""
    uri = page.file.src_uri
    path = _path_of.get(uri)
    if path is None:
        return markdown

    def rewrite(link: re.Match[str]) -> str:
        target = _target(path, link[1])
        return posixpath.relpath(_uri(target), posixpath.dirname(uri) or ".") if target else link[1]

    parts = _CODE.split(markdown)
    parts[::2] = [_LINK.sub(rewrite, text) for text in parts[::2]]
    # In a table, `a \| b` is written so in the repository; Python's Markdown shows the backslash.
    parts[1::2] = [code if code.startswith("```") else code.replace(r"\|", "|") for code in parts[1::2]]
    return "".join(parts)


def _linked(text: str, path: str) -> list[str]:
    """Return the files of the repository that the text of this file links to."""
    targets = [_target(path, link[1]) for part in _CODE.split(text)[::2] for link in _LINK.finditer(part)]
    return [target for target in targets if target]


def _target(path: str, link: str) -> str | None:
    """Return the file that a link in this file leads to; of a folder that explains itself, its README."""
    folder = path if (ROOT / path).is_dir() else posixpath.dirname(path)
    target = posixpath.normpath(posixpath.join(folder, link))
    if target == "docs":
        return "README.md"
    if (ROOT / target / "README.md").exists():
        return f"{target}/README.md"
    return target if (ROOT / target).exists() else None


def _uri(path: str) -> str:
    """Return the page of the site that shows a file of the repository."""
    if path == "README.md":
        return "index.md"
    if path == "docs/reference.md":
        return "reference/index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if path.endswith(".md") else f"source/{path}.md"


def _text(path: str) -> str:
    """Return the Markdown that shows a file or folder of the repository."""
    file = ROOT / path
    if file.is_dir():
        names = sorted(each.name for each in file.iterdir() if not each.name.startswith(("_", ".")))
        return "\n".join([f"{_NOT_SEARCHED}# {path}\n", *(f"- [{name}]({name})" for name in names)])
    text = file.read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    return f'{_NOT_SEARCHED}# {path}\n\n````{{.{_LEXERS.get(file.suffix, "text")} linenums="1"}}\n{text}````\n'
