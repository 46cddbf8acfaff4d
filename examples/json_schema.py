"""A plain JSON Schema: the value is JSON data; `jsonschema` validates it at the end."""

import structgen

schema = {
    "type": "object",
    "properties": {
        "product": {"type": "string", "maxLength": 30},
        "price": {"type": "number", "minimum": 0, "maximum": 100000},
        "currency": {"enum": ["EUR", "USD", "GBP"]},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{2,12}$"}, "maxItems": 3},
    },
    "required": ["product", "price", "currency"],
    "additionalProperties": False,
}

model = structgen.load("smollm2")
prompt = "Extract as JSON with product, price, currency. Text: The red kettle costs 39.90 USD."
print(structgen.generate(model, prompt, schema))
