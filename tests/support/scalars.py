"""Types of strings, numbers and other scalars, and enumerations, which tests read and generate."""

from __future__ import annotations

import datetime as dt
import ipaddress
import re
import uuid
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NewType

import annotated_types as at
import pydantic
from pydantic import Field, StringConstraints

__all__ = ["INTEGERS", "NUMBERS", "OTHER_SCALARS", "STRINGS", "Color", "Level", "Mixed", "Unit", "UserId", "bounded"]

UserId = NewType("UserId", int)


def bounded(kind: Any, **keywords: Any) -> Any:
    """A type with what `Field` takes."""
    return Annotated[kind, Field(**keywords)]


# -- enumerations ----------------------------------------------------------------------------------------------------


class Color(Enum):
    RED = "red"
    BLUE = "blue"
    ODD = 'a"\\b\n😀'


class Level(IntEnum):
    LOW = -1
    HIGH = 20


class Unit(StrEnum):
    METRE = "m"
    SECOND = "s"


class Mixed(Enum):
    NOTHING = None
    ONE = 1
    HALF = 0.5
    WORD = "word"
    YES = True


# -- the families ----------------------------------------------------------------------------------------------------

STRINGS = {
    "plain": str,
    "empty": bounded(str, max_length=0),
    "short": bounded(str, min_length=1, max_length=3),
    "long": bounded(str, min_length=30),
    "huge_bound": bounded(str, max_length=10**9),
    "contains": bounded(str, pattern="ab+"),
    "whole": bounded(str, pattern=r"^[A-Z]{2}\d{3}$"),
    "quotes": bounded(str, pattern=r'^["\\/]+$'),
    "controls": bounded(str, pattern=r"^[\x00-\x1f]+$", max_length=5),
    "letters": bounded(str, pattern=r"^\p{Lu}\p{Ll}*$"),
    "dots": bounded(str, pattern=r"^.{2,4}$"),
    "words": bounded(str, pattern=r"^\w+(\s\w+)*$", max_length=20),
    "bounded_pattern": bounded(str, pattern="^(ab|c)*$", min_length=3, max_length=9),
    "anchored_choice": bounded(str, pattern="^a|b$"),
    "negated": bounded(str, pattern=r"^[^a-z\s]+$"),
    "lazy": bounded(str, pattern=r"^<.*?>$"),
    "compiled": bounded(str, pattern=re.compile(r"^\d+(?:\.\d+)?$")),
    "astral": bounded(str, pattern="^[😀-😎]{1,2}$"),
    "constr": pydantic.constr(min_length=2, to_lower=True),
    "stripped": Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=5)],
    "lengths": Annotated[str, at.Len(2, 4)],
    "strict": pydantic.StrictStr,
    "secret": pydantic.SecretStr,
    "secret_bounded": bounded(pydantic.SecretStr, min_length=2, max_length=4),
    "path": Path,
    "pure_path": PurePosixPath,
    "bytes": bytes,
    "bytes_bounded": bounded(bytes, min_length=1, max_length=4),
    "secret_bytes": pydantic.SecretBytes,
    "base64": pydantic.Base64Bytes,
    "base64_str": pydantic.Base64Str,
}

INTEGERS = {
    "plain": int,
    "bounded": bounded(int, ge=3, lt=10),
    "negative": pydantic.NegativeInt,
    "positive": pydantic.PositiveInt,
    "non_negative": pydantic.NonNegativeInt,
    "non_positive": pydantic.NonPositiveInt,
    "strict": pydantic.StrictInt,
    "huge": bounded(int, ge=10**40, le=10**41 + 7),
    "past_the_limit": bounded(int, ge=10**70),
    "far_below": bounded(int, le=-(10**18)),
    "byte": bounded(int, ge=0, le=255),
    "signed_64": bounded(int, ge=-(2**63), lt=2**63),
    "multiple": bounded(int, multiple_of=7),
    "multiple_bounded": bounded(int, multiple_of=5, gt=0, le=1000),
    "multiple_large": bounded(int, multiple_of=1000, ge=0),
    "between": bounded(int, gt=-5, lt=-3),
    "conint": pydantic.conint(ge=17, le=1234),
    "interval": Annotated[int, at.Interval(gt=99, le=1000)],
    "new_type": UserId,
    "twice": Annotated[int, Field(ge=0), Field(le=20), Field(ge=5)],
}

NUMBERS = {
    "plain": float,
    "finite": pydantic.FiniteFloat,
    "strict": pydantic.StrictFloat,
    "near": bounded(float, ge=0.1, lt=0.3),
    "unit": bounded(float, gt=0, lt=1),
    "closed": bounded(float, ge=-1, le=1),
    "tiny": bounded(float, gt=0, lt=1e-300),
    "large": bounded(float, ge=1e300),
    "narrow": bounded(float, gt=1, lt=1.0000001),
    "sum": bounded(float, ge=0.1 + 0.2, le=0.7 + 0.1),
    "above_minus_one": bounded(float, gt=-1),
    "past_2_53": bounded(float, gt=2**53, lt=2**53 + 10),
    "halves": bounded(float, multiple_of=0.5),
    "cents": bounded(float, multiple_of=0.01, ge=0, le=10),
    "cents_free": bounded(float, multiple_of=0.01),
    "decimal": Decimal,
    "decimal_digits": bounded(Decimal, max_digits=4, decimal_places=2),
    "decimal_digits_only": bounded(Decimal, max_digits=3),
    "decimal_places_only": bounded(Decimal, decimal_places=3),
    "decimal_bounded": bounded(Decimal, ge=1, lt=2),
    "decimal_exact": bounded(Decimal, ge=Decimal("0.10"), le=Decimal("0.30"), decimal_places=2),
    "decimal_money": bounded(Decimal, gt=0, max_digits=10, decimal_places=2),
    "decimal_multiple": bounded(Decimal, multiple_of=Decimal("0.25"), ge=0, le=100),
    "decimal_strict": Annotated[Decimal, pydantic.Strict()],
    "prime": bounded(int, multiple_of=1_000_003),
    "byte_size": pydantic.ByteSize,
    "pattern": re.Pattern,
    "network": ipaddress.IPv4Network,
    "interface": ipaddress.IPv6Interface,
    "base64url": pydantic.Base64UrlBytes,
    "json_any": pydantic.Json,
    "mixed": Mixed,
    "set_of_two": bounded(set[int], min_length=2),
    "frozenset_of_two": bounded(frozenset[str], min_length=2),
}

OTHER_SCALARS = {
    "bool": bool,
    "strict_bool": pydantic.StrictBool,
    "none": None,
    "any": Any,
    "object": object,
    "json_value": pydantic.JsonValue,
    "date": dt.date,
    "date_bounded": bounded(dt.date, ge=dt.date(2020, 2, 28), lt=dt.date(2021, 1, 2)),
    "date_same_month": bounded(dt.date, gt=dt.date(2024, 2, 27), le=dt.date(2024, 3, 1)),
    "datetime": dt.datetime,
    "aware": pydantic.AwareDatetime,
    "naive": pydantic.NaiveDatetime,
    "time": dt.time,
    "timedelta": dt.timedelta,
    "uuid": uuid.UUID,
    "uuid1": pydantic.UUID1,
    "uuid4": pydantic.UUID4,
    "uuid7": pydantic.UUID7,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "ip": pydantic.IPvAnyAddress,
    "any_url": pydantic.AnyUrl,
    "http_url": pydantic.HttpUrl,
    "websocket": pydantic.WebsocketUrl,
    "ftp": pydantic.FtpUrl,
    "enum": Color,
    "int_enum": Level,
    "str_enum": Unit,
    "mixed_enum": Mixed,
    "literal": Literal["a", "b c", 'd"'],
    "literal_mixed": Literal["a", 1, True, None, -5],
    "literal_enum": Literal[Color.RED, Level.HIGH],
    "literal_one": Literal["only"],
}
