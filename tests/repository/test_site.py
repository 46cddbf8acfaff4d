"""The site of the docs: no page and no public name is left out. `make docs` builds it and checks its links."""

import fnmatch
import pathlib
import runpy

import yaml

import structgen

ROOT = pathlib.Path(__file__).parents[2]
REFERENCE = runpy.run_path(str(ROOT / "docs" / "site" / "reference_groups.py"))


def pages_of(entry):
    """All pages of an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    children = entry.values() if isinstance(entry, dict) else entry
    return [page for child in children for page in pages_of(child)]


def test_each_public_name_is_in_one_group_of_the_reference():
    assert sorted(name for names in REFERENCE["GROUPS"].values() for name in names) == structgen.__all__


def test_each_page_is_in_the_navigation_once():
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"reference.md"}
    made = {"index.md", "benchmarks/README.md", *REFERENCE["reference_pages"]()}
    assert sorted(pages_of(navigation)) == sorted(pages | made)


def test_the_style_sheets_are_files_of_the_site():
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    for sheet in settings["extra_css"]:
        assert (ROOT / "docs" / sheet).exists()
        assert not any(fnmatch.fnmatch(sheet, f"{left_out}*") for left_out in settings["exclude_docs"].split())
