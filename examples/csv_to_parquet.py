"""A batch over a CSV file, written to a Parquet file: one row of values for each text. Needs pyarrow."""

import csv
import io
import tempfile
from pathlib import Path
from typing import Literal

import pyarrow
import pyarrow.parquet
from pydantic import BaseModel, Field

import structgen

REVIEWS = """\
id,text
1,I love it. Best kettle I ever had.
2,Awful. The lamp broke after a day.
3,The chair is fine and was cheap.
"""


class Review(BaseModel):
    product: str = Field(max_length=20)
    sentiment: Literal["positive", "negative"]


model = structgen.load("smollm2")
rows = list(csv.DictReader(io.StringIO(REVIEWS)))
prompts = [f"Extract product and sentiment (positive or negative) as JSON. Review: {row['text']}" for row in rows]
values = structgen.batch(model, prompts, Review, return_exceptions=True)

table = pyarrow.Table.from_pylist(
    [
        {"id": int(row["id"]), **value.model_dump(), "error": None}
        if isinstance(value, Review)
        else {"id": int(row["id"]), "product": None, "sentiment": None, "error": str(value)}
        for row, value in zip(rows, values)
    ]
)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "reviews.parquet"
    pyarrow.parquet.write_table(table, path)
    for row in pyarrow.parquet.read_table(path).to_pylist():
        print(row["id"], row["product"], row["sentiment"])
