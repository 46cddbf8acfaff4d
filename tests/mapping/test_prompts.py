"""Files that a new user gives to `map`: JSON Lines are read, others are refused with what to do."""

import pytest

from structgen.mapping.prompts import check_prompts, rows_of

ADVICE = "A JSON text over several lines must become one line for each prompt"


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        ("name,prompt\nAda,hello\n", ["is not JSON Lines", "'name,prompt'", "Name it .csv"]),
        ("name\tprompt\nAda\thello\n", ["Is it a table?", "or .tsv"]),
        ("name;prompt\nAda;hello\n", ["Is it a table?", "--field"]),
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


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("Rate {stars", "write {{ and }} for braces"),
        ("Rate {}", "braces without a name"),
        ("Rate {stars}", "have no field 'stars', but review"),
        ("Rate {review.stars}", "the fields of no line of .* fit the template"),
    ],
)
def test_templates_that_do_not_fit(tmp_path, template, message):
    path = tmp_path / "given"
    path.write_text('{"review": "good"}\n')
    with pytest.raises(ValueError, match=message):
        check_prompts(path, "prompt", template)


def test_a_template_is_filled_for_each_row(tmp_path):
    path = tmp_path / "given"
    path.write_text('{"review": {"text": "good"}, "id": 7}\n{"stars": 2}\n"text"\n')
    first, second, third = rows_of(path, "prompt", "Rate {review} and {review[text]}")
    assert first["prompt"] == 'Rate {"text":"good"} and good' and first["id"] == 7
    assert second["message"] == "the line has no field 'review'"
    assert third["message"] == "the line has no fields for the template: it is no object"


@pytest.mark.parametrize("template", ["{film[title]}", "{film.title}", "{film[0][0]}", "{film:{width}}"])
def test_a_field_that_lacks_a_part_fails_alone(tmp_path, template):
    path = tmp_path / "given"
    path.write_text('{"film": {"year": 1979}}\n{"film": 5}\n')
    for row in rows_of(path, "prompt", template):
        assert row["message"].startswith("the line has fields that do not fit the template: ")
