"""Streams: a booking that grows, then each element of a list when it is complete."""

import datetime

from pydantic import BaseModel, Field

import structgen


class Booking(BaseModel):
    guest: str = Field(max_length=40)
    arrival: datetime.date
    nights: int = Field(ge=1, le=30)


class City(BaseModel):
    name: str = Field(max_length=20)
    country: str = Field(max_length=20)


model = structgen.load("smollm2")
prompt = (
    "Extract the booking as JSON with guest, arrival, nights. Text: Maria Lopez arrives on 2026-03-14 for 3 nights."
)
with structgen.stream(model, prompt, Booking) as s:
    for part in s:
        print(part.guest, part.arrival, part.nights)

with structgen.stream(model, "List three European capitals as JSON with name and country.", list[City]) as s:
    for number, city in enumerate(s.items(), 1):
        print(number, city.name, "-", city.country)
        if number == 3:
            break
