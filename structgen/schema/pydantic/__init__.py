"""JSON Schemas of Pydantic models and Python types, as strict as Pydantic's own validation."""
