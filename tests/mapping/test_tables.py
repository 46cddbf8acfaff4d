"""Tables of prompts and of answers: CSV, tab-separated text, Parquet; sorted answers; runs that give up."""

import csv
import json
import logging
from typing import Literal

import pytest
from pydantic import BaseModel

import structgen
from structgen.cli import main
from structgen.mapping.files import MapSummary, map_file
from structgen.mapping.tables import lines_of_table, write_table

REVIEWS = [{"id": "a", "review": 'say "hi", twice'}, {"id": "b", "review": "two\nlines"}, {"id": "c", "review": ""}]
PROMPT = "Classify: {review}"


class Mood(BaseModel):
    mood: Literal["good", "bad"]
    review: Literal[1, 2]  # a name that the prompts have, too


def write_reviews(path):
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow", reason="the test group has it, for ray")
        parquet = pytest.importorskip("pyarrow.parquet", reason="the test group has it, for ray")
        parquet.write_table(pyarrow.Table.from_pylist(REVIEWS), path)
        return
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "review"], delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(REVIEWS)


def read_table(path):
    return [json.loads(line) for _, line in lines_of_table(path)]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_a_table_of_prompts_becomes_a_table_of_answers(tiny_model, tmp_path, suffix):
    prompts, out = tmp_path / f"reviews{suffix}", tmp_path / f"moods{suffix}"
    write_reviews(prompts)
    summary = map_file(tiny_model, prompts, Mood, out, prompt=PROMPT, temperature=1.0, seed=1, max_new_tokens=60)
    assert summary == MapSummary(done=3, failed=0, skipped=0)
    rows = read_table(out)
    assert [{name: row[name] for name in ("id", "review")} for row in rows] == REVIEWS
    expected = structgen.generate(tiny_model, "Classify: two\nlines", Mood, temperature=1.0, seed=3, max_new_tokens=60)
    assert rows[1]["mood"] == expected.mood
    assert int(rows[1]["answer_review"]) == expected.review
    before = out.read_bytes()
    again = map_file(tiny_model, prompts, Mood, out, prompt=PROMPT, temperature=1.0, seed=1, max_new_tokens=60)
    assert again == MapSummary(done=3, failed=0, skipped=3)
    assert out.read_bytes() == before


def test_another_prompt_is_another_job(tiny_model, tmp_path):
    write_reviews(tmp_path / "reviews.csv")
    map_file(tiny_model, tmp_path / "reviews.csv", Literal["a"], tmp_path / "out.csv", prompt=PROMPT)
    with pytest.raises(ValueError, match="changed: prompt"):
        map_file(tiny_model, tmp_path / "reviews.csv", Literal["a"], tmp_path / "out.csv", prompt="{review}")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_that_of_the_header(tmp_path, separator):
    path = tmp_path / "given.csv"
    path.write_text(f"\ufeffid{separator}prompt\n1{separator}hello, you\n".replace("hello, you", '"hello, you"'))
    assert read_table(path) == [{"id": "1", "prompt": "hello, you"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "needs a header"), ("a,a\n1,2\n", "needs a header"), ("a,b\n1,2,3\n", "line 2 of .* more fields")],
)
def test_tables_that_are_none(tmp_path, text, message):
    path = tmp_path / "given.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_table(path)


def test_a_file_that_is_no_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="the test group has it, for ray")
    path = tmp_path / "given.parquet"
    path.write_text("nothing")
    with pytest.raises(OSError, match="is not Parquet"):
        read_table(path)


def test_failed_rows_have_an_error_and_cells_are_json(tmp_path):
    prompts = [(1, b'"one"'), (2, b'{"n": 2}'), (4, b'"not answered"')]
    answers = {1: {"value": [1, "two"]}, 2: {"error": "ValueError", "message": "no"}}
    write_table(tmp_path / "out.csv", prompts, answers)
    assert read_table(tmp_path / "out.csv") == [
        {"prompt": "one", "value": '[1, "two"]', "n": "", "error": ""},
        {"prompt": "", "value": "", "n": "2", "error": "ValueError: no"},
    ]


def test_columns_of_several_types_are_text_in_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="the test group has it, for ray")
    write_table(tmp_path / "out.parquet", [(1, b'"a"'), (2, b'"b"')], {1: {"value": 1}, 2: {"value": "two"}})
    assert [row["value"] for row in read_table(tmp_path / "out.parquet")] == ["1", "two"]


def test_long_fields_and_columns_that_are_taken(tmp_path):
    path = tmp_path / "prompts.csv"
    path.write_text(f"prompt,value,answer_value\n{'x' * 200_000},1,2\n")
    ((number, line),) = lines_of_table(path)
    write_table(tmp_path / "out.csv", [(number, line)], {1: {"value": {"value": 3, "answer_value": 4}}})
    (row,) = read_table(tmp_path / "out.csv")
    assert len(row.pop("prompt")) == 200_000
    assert sorted(row.values()) == ["1", "2", "3", "4"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_each_line_of_prompts_has_a_record(tmp_path, suffix):
    """Also one that is not JSON, or that no file can hold: the table is written when all of them are answered."""
    pytest.importorskip("pyarrow", reason="the test group has it, for ray")
    failed = {"error": "ValueError", "message": "no"}
    lines = [b'{"prompt": "a", "value": 7}', b"{bad\n", b'"\\ud800"', b'{"prompt": "b", "\\ud800": "x"}']
    path = tmp_path / f"out{suffix}"
    write_table(path, list(enumerate(lines)), {0: {"value": 1}, 1: failed, 2: failed, 3: {"value": 2}})
    rows = read_table(path)
    assert [row["prompt"] for row in rows] == ["a", "{bad", r"\ud800", "b"]
    assert list(rows[0]) == ["prompt", "value", r"\ud800", "answer_value", "error"]  # those of prompts first
    assert [str(row["answer_value"] or "") for row in rows] == ["1", "", "", "2"]


@pytest.mark.parametrize("value", [2**63, {}, {"a": {}}, "\ud800"])
def test_values_that_parquet_does_not_have_are_text(tmp_path, value):
    pytest.importorskip("pyarrow", reason="the test group has it, for ray")
    write_table(tmp_path / "out.parquet", [(1, b'"a"')], {1: {"value": {"x": value}}})
    (row,) = read_table(tmp_path / "out.parquet")
    assert row["x"] == (r"\ud800" if isinstance(value, str) else json.dumps(value))


def test_tabs_separate_the_fields_of_tsv(tmp_path):
    path = tmp_path / "given.tsv"
    path.write_text("name, first\tprompt\nAnn\thello\n")
    assert read_table(path) == [{"name, first": "Ann", "prompt": "hello"}]


def test_a_table_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "given.csv"
    path.write_bytes("prompt\ncaf\xe9\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"given\.csv is not UTF-8"):
        read_table(path)


def test_sorted_answers(tiny_model, tmp_path):
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "out.jsonl"
    prompts.write_text("".join(f'"text {number}"\n' for number in range(9)))
    options = {"batch_size": 4, "temperature": 1.0, "seed": 3, "max_new_tokens": 40}
    map_file(tiny_model, prompts, list[bool], out, **options)
    unsorted = out.read_text().splitlines()
    map_file(tiny_model, prompts, list[bool], out, is_sorted=True, **options)
    assert out.read_text().splitlines() == sorted(unsorted, key=lambda line: json.loads(line)["line"])
    assert map_file(tiny_model, prompts, list[bool], out, **options).skipped == 9


def refuse(value):
    raise ValueError("never")


def test_a_run_in_which_all_rows_fail_ends(tiny_model, tmp_path, caplog):
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "out.jsonl"
    prompts.write_text("".join(f'"text {number}"\n' for number in range(9)))
    with pytest.raises(structgen.GenerationError, match="the first 3 rows all failed") as caught:
        map_file(tiny_model, prompts, Literal["a"], out, give_up_after=3, batch_size=2, validate=refuse)
    assert "never" in str(caught.value)
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1 and "ValidationFailedError" in warnings[0] and "out.failed.jsonl" in warnings[0]
    summary = map_file(
        tiny_model, prompts, Literal["a"], out, give_up_after=None, batch_size=2, validate=refuse, retry_failed=True
    )
    assert summary.failed == 9


def test_the_command(tiny_model, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("structgen.cli.with_model.load_model", lambda name: tiny_model)
    monkeypatch.chdir(tmp_path)
    write_reviews(tmp_path / "reviews.csv")
    main(["map", "reviews.csv", "--prompt", PROMPT, "--choices", "good, bad", "--out", "moods.csv", "--sorted"])
    assert {row["value"] for row in read_table(tmp_path / "moods.csv")} <= {"good", "bad"}
    main(["generate", "--choices", "left, right", "Where?"])
    assert capsys.readouterr().out in ("left\n", "right\n")
    main(["generate", "--regex", "[0-9]{4}", "When?"])
    assert capsys.readouterr().out.strip().isdigit()
    with pytest.raises(SystemExit):
        main(["generate", "--regex", "a", "--choices", "b", "Both?"])
    assert "not allowed with argument" in capsys.readouterr().err
