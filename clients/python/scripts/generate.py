"""Writes what is generated in src/framegate_client.

contracts/ has TypedDicts of the events of every contract, from its schemas. _api.py has the objects of the API, from clients/api.json.
_async_methods.py has the methods that give events, with an overload for each contract. Each _async_*.py becomes a _sync_*.py.
`--check` writes nothing and fails if a file differs.

A contract is found by its folder, schemas/NAME/vN with a document.json. No contract is named here.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE / "../../../schemas"
API = HERE / "../../api.json"
PACKAGE = HERE / "../src/framegate_client"
HEADER = "# Written by scripts/generate.py; do not edit.\n\nfrom __future__ import annotations\n"

STRUCTURE = set("type properties required additionalProperties const enum items $ref anyOf oneOf allOf".split())
# Keywords that only narrow what is valid.
NARROWING = set(
    "format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems "
    "minProperties maxProperties not if then else contains propertyNames dependentRequired dependentSchemas".split()
)
SILENT = set("$schema $id $defs $comment title description examples default deprecated".split())


def pascal(name: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name) if word)


def event_name(kind: str) -> str:
    name = pascal(kind)
    return name if name.endswith("Event") else name + "Event"


class Module:
    """The TypedDicts of one module."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.classes: list[str] = []
        self.names: dict[str, str] = {}
        # The definitions of the schema that is being translated, and what their names begin with.
        self.definitions: dict[str, Any] = {}
        self.prefix = ""

    def declare(self, schema: Any, name: str) -> str:
        """The type of a whole schema; its definitions become types too."""
        self.definitions, self.prefix = schema.get("$defs", {}), name
        for definition, inner in self.definitions.items():
            found = self.type_of(inner, name + pascal(definition))
            if found != name + pascal(definition):
                self.classes.append(f"{name + pascal(definition)}: TypeAlias = {found!r}")
        return self.type_of(schema, name)

    def type_of(self, schema: Any, name: str) -> str:
        """The type of a schema; objects with properties become classes under `name`."""
        if schema is True:
            return "Any"
        unknown = set(schema) - STRUCTURE - NARROWING - SILENT
        if unknown:
            raise ValueError(f"{name}: {unknown} cannot be translated")
        if "allOf" in schema:
            schema = self.merged(schema)
        if "$ref" in schema:
            return self.prefix + pascal(schema["$ref"].removeprefix("#/$defs/"))
        if "const" in schema:
            return literal([schema["const"]])
        if "enum" in schema:
            return literal(schema["enum"])
        parts = schema.get("anyOf", schema.get("oneOf"))
        # Beside properties, they say which combinations are valid.
        if parts and "properties" not in schema:
            return union([self.type_of(one, name) for one in parts])
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return union([self.one_type(kind, schema, name) for kind in kinds]) if kinds else "Any"

    def one_type(self, kind: str, schema: Any, name: str) -> str:
        if kind == "array":
            return f"list[{self.type_of(schema.get('items', True), name + 'Item')}]"
        if kind == "object":
            if schema.get("properties"):
                return self.typed_dict(schema, name)
            rest = schema.get("additionalProperties", True)
            return f"dict[str, {self.type_of(rest, name + 'Value') if rest else 'Any'}]"
        return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}[kind]

    def merged(self, schema: Any) -> Any:
        """The schema with its parts in `allOf` as its own members."""
        out = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema["allOf"]:
            if "$ref" in part:
                part = self.definitions[part["$ref"].removeprefix("#/$defs/")]
            part = self.merged(part) if "allOf" in part else part
            for key, value in part.items():
                if key == "properties":
                    out[key] = {**out.get(key, {}), **value}
                elif key == "required":
                    out[key] = [*out.get(key, []), *value]
                elif key not in NARROWING:
                    out.setdefault(key, value)
        return out

    def typed_dict(self, schema: Any, name: str) -> str:
        required = set(schema.get("required", []))
        fields = []
        for key, value in schema["properties"].items():
            text = self.type_of(value, name + pascal(key))
            text = text if key in required else f"NotRequired[{text}]"
            fields.append((key, text, value.get("description", "") if isinstance(value, dict) else ""))
        about = schema.get("description", "")
        if all(key.isidentifier() and not keyword.iskeyword(key) for key, _, _ in fields):
            lines = [f"class {name}(TypedDict):"]
            lines += [f"    {docstring(about)}", ""] if about else []
            for key, text, described in fields:
                lines.append(f"    {key}: {text}")
                lines += [f"    {docstring(described)}"] if described else []
            text = "\n".join(lines)
        else:
            members = "".join(f"        {key!r}: {text!r},\n" for key, text, _ in fields)
            text = f'{name} = TypedDict(\n    "{name}",\n    {{\n{members}    }},\n)'
        if name not in self.names:
            self.names[name] = text
            self.classes.append(text)
        if self.names[name] == text:
            return name
        # Another branch of a union: `Name2`, `Name3` and so on.
        base = name.rstrip("0123456789")
        return self.typed_dict(schema, f"{base}{int(name[len(base) :] or 1) + 1}")

    def text(self, about: str, more: str = "") -> str:
        body = "\n\n\n".join(self.classes) + more
        code = re.sub(r'""".*?"""', "", body)
        names = [name for name in ("Any", "Literal", "TypeAlias", "TypedDict") if re.search(rf"\b{name}\b", code)]
        imports = f"from typing import {', '.join(names)}\n"
        if "NotRequired" in body:
            imports += f"\nfrom {self.root}_compat import NotRequired\n"
        return f'"""{about}"""\n\n{HEADER}\n{imports}\n\n{body}\n'


def docstring(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}"""' if not text.endswith('"') else f'"""{text} """'


def literal(values: list[Any]) -> str:
    texts = [json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value) for value in values]
    return f"Literal[{', '.join(texts)}]"


def union(types: list[str]) -> str:
    distinct = list(dict.fromkeys(types))
    return "Any" if "Any" in distinct else " | ".join(distinct)


class Contract:
    def __init__(self, folder: Path) -> None:
        self.name = f"{folder.parent.name}.{folder.name}"
        self.module = re.sub(r"\W", "_", self.name)
        self.event = pascal(self.name) + "Event"
        files = sorted(folder.glob("*.schema.json"))
        self.schemas = {file.name[: -len(".schema.json")]: json.loads(file.read_text("utf-8")) for file in files}
        keys = [
            {key for key, value in schema["properties"].items() if value is not True and value.get("const") == kind}
            for kind, schema in self.schemas.items()
        ]
        # None: a contract can have the type elsewhere.
        self.type_key = next(iter(set.intersection(*keys)), None)

    def text(self) -> str:
        module = Module("..")
        events = [module.declare(schema, event_name(kind)) for kind, schema in self.schemas.items()]
        alias = f"\n\n\n{self.event}: TypeAlias = (\n    " + "\n    | ".join(events) + f'\n)\n"""Any event of {self.name}."""'
        return module.text(f"The events of {self.name}, from its JSON Schemas.", alias)


def api() -> str:
    module = Module(".")
    aliases = []
    for name, schema in json.loads(API.read_text("utf-8"))["$defs"].items():
        found = module.type_of(schema, name)
        if found != name:
            aliases.append(f"{name}: TypeAlias = {found}")
    return module.text("The objects of the API, from clients/api.json.", "".join(f"\n\n\n{alias}" for alias in aliases))


def contract_table(contracts: list[Contract]) -> str:
    out = '"""The contracts, from schemas/."""\n\n' + HEADER + "\nfrom typing import Literal, TypeAlias\n\n"
    out += "from .._api import RawRecord\n"
    out += "from . import (\n" + "".join(f"    {one.module},\n" for one in contracts) + ")\n"
    out += "".join(f"from .{one.module} import {one.event}\n" for one in contracts)
    out += "\nContractName: TypeAlias = Literal[\n" + "".join(f'    "{one.name}",\n' for one in contracts)
    out += ']\n"""A contract whose events runs and feeds have. (A single run also has its `raw` records.)"""\n'
    out += "\nTYPE_KEYS: dict[ContractName, str] = {\n" + "".join(
        f'    "{one.name}": "{one.type_key}",\n' for one in contracts if one.type_key
    )
    out += '}\n"""The key that tells the types of events apart, for each contract that has one."""\n'
    names = sorted([*(one.event for one in contracts), "ContractName", "RawRecord", "TYPE_KEYS"])
    names += [one.module for one in contracts]
    return out + "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"


# The methods that give events: their own parameter, their feature as a feed, and what they are.
METHODS = [
    ("events", "run_id: str", False, "A run's events: from the beginning or after a cursor, then live, until the run has ended."),
    ("session_events", "session_id: str", True, "The events of a session's runs, including future ones. It never ends by itself."),
    ("all_events", "", True, "The events of all runs, including future ones. It never ends by itself."),
]
AFTER = "after: str | int | None = None"
COMMON = "experimental: bool = False", "user_messages: bool = False", "on_reconnect: OnReconnect | None = None"


def overloads(contracts: list[Contract]) -> str:
    out = '"""The methods that give events, with an overload for each contract."""\n\n' + HEADER
    out += "\nfrom collections.abc import Sequence\nfrom typing import Any, Literal, overload\n\n"
    out += "from ._api import RawRecord\nfrom ._async_stream import AsyncEventStream\n"
    out += "from ._core import OnReconnect, feed_call, run_call, segment\nfrom .contracts import (\n"
    out += "".join(f"    {one.event},\n" for one in contracts) + "    ContractName,\n)\n\n\n"
    out += "class AsyncEventMethods:\n"
    out += "    def _stream(self, call: Any, after: Any, on_reconnect: Any) -> AsyncEventStream[Any]:\n        raise NotImplementedError\n"
    for name, own, is_feed, about in METHODS:
        optional = [AFTER, *COMMON]
        if is_feed:
            optional.append("event_type: Sequence[str] | None = None")
        if name == "all_events":
            optional.append("session_id: str | None = None")
        pairs = [(one.name, one.event) for one in contracts] + ([] if is_feed else [("raw", "RawRecord")])
        for contract, event in pairs:
            parts = ["self", *([own] if own else []), "*", f'contract: Literal["{contract}"]', *optional]
            inside = "".join(f"        {part.split(' = ')[0]} = ...,\n" if " = " in part else f"        {part},\n" for part in parts)
            out += f"\n    @overload\n    def {name}(\n{inside}    ) -> AsyncEventStream[{event}]: ...\n"
        any_name = "ContractName" if is_feed else 'ContractName | Literal["raw"]'
        parts = ["self", *([own] if own else []), "*", f"contract: {any_name}", *optional]
        inside = "".join(f"        {part},\n" for part in parts)
        path = {"events": "run_call(run_id, ", "session_events": 'feed_call(f"/v1/sessions/{segment(session_id)}/events", '}.get(
            name, 'feed_call("/v1/events", '
        )
        given = "contract, experimental, user_messages"
        if is_feed:
            given += ", event_type, " + ("session_id" if name == "all_events" else "None")
        out += f'\n    def {name}(\n{inside}    ) -> AsyncEventStream[Any]:\n        """{about}"""\n'
        out += f"        return self._stream({path}{given}), after, on_reconnect)\n"
    return out


# How the synchronous client is said; longer words first.
WORDS = [
    (r"\basync def\b", "def"),
    (r"\basync with\b", "with"),
    (r"\basync for\b", "for"),
    (r"\bawait ", ""),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\b__aiter__\b", "__iter__"),
    (r"\b__anext__\b", "__next__"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (r"\baclose\b", "close"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\baiter_sse\b", "iter_sse"),
    (r"\baread\b", "read"),
    (r"\bAsyncClient\b", "Client"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\bimport asyncio\b", "import time"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\b_async(?=_|\b)", "_sync"),
    (r"\basynchronous\b", "synchronous"),
]


def synchronous(text: str) -> str:
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    text = text.replace("import time\nimport time\n", "import time\n")
    return re.sub(r"(?<=^from collections\.abc import )(.+)$", lambda names: ", ".join(sorted(names[1].split(", "))), text, flags=re.M)


def files() -> dict[Path, str]:
    folders = sorted(file.parent for file in SCHEMAS.glob("*/v*/document.json"))
    contracts = sorted((Contract(folder) for folder in folders), key=lambda one: one.name)
    found = {PACKAGE / f"contracts/{one.module}.py": one.text() for one in contracts}
    found[PACKAGE / "contracts/__init__.py"] = contract_table(contracts)
    found[PACKAGE / "_api.py"] = api()
    found[PACKAGE / "_async_methods.py"] = methods = overloads(contracts)
    found[PACKAGE / "_sync_methods.py"] = synchronous(methods)
    for name in ("client", "stream", "artifact"):
        source = f"_async_{name}.py"
        note = f"# Written by scripts/generate.py from {source}; do not edit.\n\nfrom __future__"
        text = synchronous((PACKAGE / source).read_text("utf-8"))
        found[PACKAGE / f"_sync_{name}.py"] = text.replace("from __future__", note, 1)
    return found


def main() -> None:
    wanted = files()
    present = {*(PACKAGE / "contracts").glob("*.py"), *PACKAGE.glob("_sync_*.py")}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    surplus = sorted(present - set(wanted))
    if "--check" in sys.argv:
        if stale or surplus:
            names = ", ".join(path.name for path in [*stale, *surplus])
            sys.exit(f"clients/python is stale: {names}; python3 clients/python/scripts/generate.py rewrites it")
        return
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(wanted[path], "utf-8")
    for path in surplus:
        path.unlink()


if __name__ == "__main__":
    main()
