"""Files that a new user gives to `map`: JSON Lines are read, others are refused with what to do."""

import csv
import io
import json
import subprocess
import sys

import pytest

from structgen.mapping.prompts import check_prompts, rows_of

ADVICE = "A JSON text over several lines must become one line for each prompt"


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        ("name,prompt\nAda,hello\n", ["is not JSON Lines", "'name,prompt'", "csv.DictReader(sys.stdin)"]),
        ("name\tprompt\nAda\thello\n", ["a tab-separated file", r"delimiter='\t'"]),
        ("name;prompt\nAda;hello\n", ["a CSV file", "delimiter=';'"]),
        ("42,43\n44\n", ["no line of"]),
        ("What is this?\nAnd that?\n", ["Each line must be JSON: a text in quotes"]),
        ('[\n  "one",\n  "two"\n]\n', [ADVICE]),
        ('{"text": "hi", "n": 1}\n', ["have no field 'prompt'", "text, n", "--field text"]),
        ("17\nnull\n", ["no line of"]),
    ],
)
def test_files_that_are_no_prompts(tmp_path, content, messages):
    path = tmp_path / "given"
    path.write_text(content)
    with pytest.raises(ValueError) as caught:
        check_prompts(path, "prompt")
    for message in messages:
        assert message in str(caught.value)


@pytest.mark.parametrize("content", ["", "\n\n", 'no json\n"a text"\n', '[{"role": "user", "content": "x"}]\n'])
def test_files_with_a_prompt_or_without_lines_are_accepted(tmp_path, content):
    path = tmp_path / "given"
    path.write_text(content)
    check_prompts(path, "prompt")


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_the_advised_command_turns_a_csv_file_into_prompts(tmp_path, delimiter):
    rows = [{"id": "1", "prompt": 'say "hi", twice'}, {"id": "2", "prompt": "two\nlines"}]
    text = io.StringIO()
    writer = csv.DictWriter(text, ["id", "prompt"], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    path = tmp_path / "prompts.csv"
    path.write_text(text.getvalue())
    with pytest.raises(ValueError) as caught:
        check_prompts(path, "prompt")
    code = str(caught.value).partition('python -c "')[2].partition('" <')[0]
    run = subprocess.run([sys.executable, "-c", code], input=path.read_bytes(), capture_output=True, check=True)
    assert [json.loads(line) for line in run.stdout.splitlines()] == rows
    path.write_bytes(run.stdout)
    assert [row["prompt"] for row in rows_of(path, "prompt")] == [row["prompt"] for row in rows]
