"""Runs generated Python for the Go tests: it reads calls as lines of JSON, and answers each with a line.

A call goes through the generated class, with inputs as a program would give them; what is returned is written as stored values again.

    python3 driver.py DIRECTORY      the directory has the package
"""

import base64
import concurrent.futures
import dataclasses
import datetime
import importlib
import json
import os
import sys
import traceback

import boto3
import botocore.config

directory = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.dirname(directory))
generated = importlib.import_module(os.path.basename(directory))
db_module = importlib.import_module(generated.__name__ + ".db")
table = importlib.import_module(generated.__name__ + ".runtime")
codec = importlib.import_module(generated.__name__ + ".runtime.codec")
program = db_module._program

PAGES = ("limit", "after")  # the parameters of reads
worlds = {}  # the databases that are open
ids = 0


def new_id(kind):
    """The ids of a call are numbered, as those of the Go code are in these tests."""
    global ids
    n = ids
    ids += 1
    return {"uuid": f"00000000-0000-4000-8000-{n:012}", "ksuid": f"{n:027}"}.get(kind, f"{n:026}")


def plain(name):
    return "".join(c for c in name.lower() if c.isascii() and c.isalnum())


def method(db, pattern, suffix=""):
    want = plain(pattern) + suffix
    name = next((m for m in dir(type(db)) if not m.startswith("__") and plain(m) == want), None)
    if name is None:
        raise LookupError(f"the class has no method for {pattern}{suffix}")
    return getattr(db, name)


def each_bytes(v, of):
    """Values of JSON as the SDK has them, or the other way round: bytes are base64."""
    if not v:
        return None
    kind, x = next(iter(v.items()))
    if kind == "B":
        x = of(x)
    elif kind == "BS":
        x = [of(b) for b in x]
    elif kind == "L":
        x = [each_bytes(e, of) for e in x]
    elif kind == "M":
        x = {name: each_bytes(e, of) for name, e in x.items()}
    return {kind: x}


def revived(v):
    return each_bytes(v, base64.b64decode)


def revived_all(m):
    return {name: revived(v) for name, v in (m or {}).items() if v}


def shown_all(m):
    return {name: each_bytes(v, lambda b: base64.b64encode(b).decode()) for name, v in m.items()}


def given(params, values, prefix="", reserved=()):
    """What a program gives for stored values, by the names of parameters."""
    v = revived_all(values)
    out = {}
    for p in params:
        if p.name in v:
            name = p.attr.rstrip("_") + "_prefix" if p.name == prefix else p.attr
            removed = p.removable and "NULL" in v[p.name]
            out[name + "_" if name in reserved else name] = generated.REMOVED if removed else codec.decode(p.type, p.name, v[p.name])
    return out


def read_input(r, asked):
    out = given(r.params, asked["values"], r.prefix, PAGES)
    f = r.entity.field(r.range) if r.range else None
    for bound, suffix in (("from", "_from"), ("to", "_to")):
        if f and asked.get(bound):
            out[f.attr.rstrip("_") + suffix] = codec.decode(f.type, f.name, revived(asked[bound]))
    return out


def told(e, x):
    return None if x is None else shown_all(codec.encode_all(e.fields, lambda f: getattr(x, f.attr, None)))


class World:
    def __init__(self, call):
        config = botocore.config.Config(retries={"max_attempts": 0}, max_pool_connections=20)
        self.client = boto3.client(
            "dynamodb", endpoint_url=call["endpoint"], region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test", config=config)
        now = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(milliseconds=call["now"])
        self.settings = {
            "tables": call["tables"], "cursor_key": base64.b64decode(call["cursorKey"]), "clock": lambda: now, "new_id": new_id,
            "sequential": not call.get("concurrent", False),
        }
        self.db = generated.DB(self.client, **self.settings)

    def limited(self, r, limit):
        """The class with another limit of a read, which no generated method has."""
        other = table.Program(db_module._descriptors.document, db_module._types)
        other.reads[r.pattern] = dataclasses.replace(other.reads[r.pattern], limit=limit)
        return table.Runtime(
            other, db_module._declared, self.client, old_cursor_keys=(), caller=None, observe=None, **self.settings)


def by_design(r, asked):
    """The input of a read as generated methods give it to the runtime."""
    v = revived_all(asked["values"])
    out = {p.name + ("Prefix" if p.name == r.prefix else ""): codec.decode(p.type, p.name, v[p.name]) for p in r.params if p.name in v}
    f = r.entity.field(r.range) if r.range else None
    for bound, suffix in (("from", "From"), ("to", "To")):
        if f and asked.get(bound):
            out[f.name + suffix] = codec.decode(f.type, f.name, revived(asked[bound]))
    return out


def load(w, call):
    records = []
    for r in call["records"]:
        e = program.entities[r["entity"]]
        records.append(e.make(**codec.decode_all(e.name, e.fields, revived_all(r["values"]))))
    w.db.load(records)


def get(w, call):
    r = program.reads[call["pattern"]]
    return told(r.entity, method(w.db, r.pattern)(**read_input(r, call["input"])))


def batch(w, call):
    r = program.reads[call["pattern"]]
    name = method(w.db, r.pattern).__name__
    of = next((getattr(generated, n) for n in generated.__all__ if plain(n) == plain(r.pattern) + "input"), None)
    if of is None:
        raise LookupError(f"{name} has no input")
    suffix = "" if db_module._descriptors.document["reads"][r.pattern].get("each") else "batch"
    return [told(r.entity, x) for x in method(w.db, r.pattern, suffix)([of(**given(r.params, one["values"])) for one in call["inputs"]])]


def count(w, call):
    r = program.reads[call["pattern"]]
    return method(w.db, r.pattern)(**read_input(r, call["input"]))


def page(w, call):
    r = program.reads[call["pattern"]]
    limit, after = call["size"], call["after"]
    if call["limit"] == r.limit == 0:
        found = method(w.db, r.pattern)(**read_input(r, call["input"]), limit=limit, after=after)
    else:
        found = w.limited(r, call["limit"]).page(r.pattern, by_design(r, call["input"]), limit, after)
    return {"items": [told(r.entity, x) for x in found.items], "next": found.next}


def list_all(w, call):
    r = program.reads[call["pattern"]]
    if call["limit"] != r.limit:
        found = w.limited(r, call["limit"]).list(r.pattern, by_design(r, call["input"]))
    else:
        found = method(w.db, r.pattern, "" if r.limit else "all")(**read_input(r, call["input"]))
    return [told(r.entity, x) for x in found]


def collect(w, call):
    c = program.collections[call["pattern"]]
    pages = {"limit": call["size"], "after": call["after"]} if c.page else {}
    found = method(w.db, c.pattern)(**given(c.params, call["input"]["values"], reserved=PAGES), **pages)
    members = []
    for i, m in enumerate(c.members):
        items = getattr(found, m.attr)
        members.append([told(m.entity, x) for x in ([items] if i == c.root and items is not None else items or ())])
    return {"members": members, "next": found.next if c.page else ""}


def line_class(pattern):
    return next((getattr(generated, n) for n in generated.__all__ if plain(n) == plain(pattern) + "line"), None)


def write_input(wr, asked):
    out = given(wr.params, asked["values"])
    if wr.lines:
        of = line_class(wr.pattern)
        out["lines"] = [of(**given(wr.line_params, line)) for line in asked.get("lines") or ()]
    return out


def at_once(w, call):
    """Makes writes at once, and answers with the codes of their errors; "" for none."""
    wr = program.writes[call["pattern"]]

    def one(asked):
        try:
            method(w.db, wr.pattern)(**write_input(wr, asked))
            return ""
        except table.TableError as err:
            return err.code

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        return list(pool.map(one, call["inputs"]))


def write(w, call):
    global ids
    ids = call["firstID"]
    wr = program.writes[call["pattern"]]
    return outcome(wr, method(w.db, wr.pattern)(**write_input(wr, call["input"])))


def tx(w, call):
    global ids
    ids = call["firstID"]
    writes = [program.writes[one["pattern"]] for one in call["writes"]]
    ops = [method(w.db.op, wr.pattern)(**write_input(wr, one["input"])) for wr, one in zip(writes, call["writes"])]
    w.db.tx(*ops)
    return [{**outcome(wr, op.result if op.known else None), "replayed": op.replayed} for wr, op in zip(writes, ops)]


def export(w, call):
    found = w.db.export_person(call["id"], after=call["after"])
    return [{"entity": x.entity, "values": told(program.entities[x.entity], x.item), "json": x.json(), "resume": x.resume} for x in found]


def erase(w, call):
    global ids
    ids = call["firstID"]
    return {"erased": dataclasses.asdict(w.db.erase_person(call["id"])), "kept": [k._asdict() for k in generated.PERSON_KEPT]}


def outcome(wr, result):
    """What a write returns, as stored values."""
    replayed = getattr(result, "replayed", False)
    items = {}
    for t in wr.returned:
        x = getattr(result, t.attr, None)
        items[t.step] = [told(wr.steps[t.step].entity, one) for one in (x or () if t.each else [x])]
    return {"items": items, "replayed": replayed, "record": told(wr.idempotent.record, result.record) if replayed else None}


operations = {
    "load": load, "get": get, "batch": batch, "count": count, "page": page, "all": list_all, "collect": collect, "atOnce": at_once,
    "write": write, "tx": tx, "export": export, "erase": erase,
}

for line in sys.stdin:
    call = json.loads(line)
    try:
        if call["op"] == "open":
            worlds[call["world"]] = World(call)
            result = None
        elif call["op"] == "close":
            result = worlds.pop(call["world"]) and None
        else:
            result = operations[call["op"]](worlds[call["world"]], call)
        answer = {"result": result}
    except Exception as err:
        name = "ValueError" if isinstance(err, table.InvalidValueError) else type(err).__name__
        codes = list(getattr(err, "codes", ()))
        answer = {"error": {"name": name, "message": str(err), "codes": codes, "stack": traceback.format_exc()}}
        answer["error"].update(lines=getattr(err, "lines", None), txWrite=getattr(err, "tx_write", None))
    print(json.dumps(answer), flush=True)
