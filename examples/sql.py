"""SQL by a grammar: every query that the model writes can be parsed."""

import sqlite3

import structgen

model = structgen.load("smollm2")
database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE orders (id INTEGER, country TEXT, total REAL)")
database.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(1, "FR", 10.0), (2, "FR", 20.0), (3, "NO", 5.0)])

# Your own grammar for a part of SQL: only existing columns and tables, and no statement that writes.
queries = structgen.Grammar.kbnf(
    r"""
    start ::= "SELECT " column " FROM orders" [" WHERE " condition] [" GROUP BY country"] ";";
    column ::= "country" | "total" | "COUNT(*)" | "SUM(total)" | "AVG(total)";
    condition ::= "country = '" #"[A-Z]{2}" "'" | "total " ("<" | ">" | "=") " " #"[0-9]{1,4}";
    """
)
for question in ["Count all orders.", "The sum of the totals of the orders whose country is 'FR'."]:
    prompt = f"Write one SQL query. Table: orders(id, country, total). Question: {question}"
    query = structgen.generate(model, prompt, queries)
    print(query, database.execute(query).fetchall())

# All of SQL, within the limits that docs/languages.md gives.
statement = structgen.generate(
    model,
    "Write a SQL query that selects all from orders.",
    structgen.Grammar.language("sql"),
    max_new_tokens=40,
    stop=";",
)
print(statement)
