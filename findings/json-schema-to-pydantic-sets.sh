#!/bin/sh
# json-schema-to-pydantic 0.5.0 (Python), create_model: a list with `uniqueItems` becomes a set. The order of its items is lost, which JSON
# keeps (steps of a plan, columns of a report), a repeated item vanishes where the schema refuses it, and a list of objects is refused
# whatever is in it, because they have no hash. Members that `additionalProperties` allows beside `properties` (`true`, or a schema) are gone
# when the model is dumped, and an object that may be null (`type: ["object", "null"]`) is not checked at all.
#
# Seen: "unique: [3, 1, 2] -> [1, 2, 3]", 'unique objects: [{"id": 1}] -> refused', 'open: {"PATH": "a", "CI": "1"} -> {"PATH": "a"}',
# 'nullable: {"id": "x"} -> {"id": "x"}' where the id is an integer. Exits with 1 when that changes. Needs python3 (3.10 or later).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install json-schema-to-pydantic==0.5.0 pydantic==2.13.4 jsonschema==4.26.0
cat > run.py <<'PY'
import json, sys

import jsonschema
from json_schema_to_pydantic import create_model

number = {'type': 'integer'}
target = {'type': 'object', 'properties': {'id': number}, 'required': ['id']}
open_object = {'type': 'object', 'properties': {'PATH': {'type': 'string'}}, 'additionalProperties': {'type': 'string'}}
cases = {
    'unique': ({'type': 'array', 'items': number, 'uniqueItems': True}, [3, 1, 2], '[1, 2, 3]'),
    'not unique': ({'type': 'array', 'items': number}, [3, 1, 2], '[3, 1, 2]'),
    'unique, repeated': ({'type': 'array', 'items': number, 'uniqueItems': True}, [1, 1], '[1]'),
    'unique objects': ({'type': 'array', 'items': target, 'uniqueItems': True}, [{'id': 1}], 'refused'),
    'open': (open_object, {'PATH': 'a', 'CI': '1'}, '{"PATH": "a"}'),
    'nullable': ({**target, 'type': ['object', 'null']}, {'id': 'x'}, '{"id": "x"}'),
    'not nullable': (target, {'id': 'x'}, 'refused'),
}
as_seen = True
for name, (schema, value, wanted) in cases.items():
    whole = {'type': 'object', 'title': 'Arguments', 'properties': {'value': schema}, 'required': ['value']}
    try:
        model = create_model(whole).model_validate({'value': value})
        seen = json.dumps(model.model_dump(mode='json')['value'])
    except ValueError:
        seen = 'refused'
    valid = jsonschema.Draft202012Validator(schema).is_valid(value)
    print(f"{name}: {json.dumps(value)} -> {seen}, by JSON Schema {'valid' if valid else 'refused'}")
    as_seen = as_seen and seen == wanted and valid == (name in ('unique', 'not unique', 'unique objects', 'open'))
sys.exit(0 if as_seen else 1)
PY
timeout 60 venv/bin/python run.py
