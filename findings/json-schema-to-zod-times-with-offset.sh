#!/bin/sh
# @dmitryrechkin/json-schema-to-zod 1.0.1 (JavaScript, zod 3.25.76): a `date-time` with an offset, as clocks outside UTC write it
# (`2026-12-01T09:00:00+07:00`) and RFC 3339 allows it, is refused, so that a good call of a tool fails. What should be refused passes:
# `pattern`, `minLength`, `minimum` and the `enum` of numbers are dropped without an error while it converts, `enum` of texts is kept.
#
# Seen: "offset: refused", "UTC: accepted", "pattern: accepted", and the same for minLength, minimum and an enum of numbers, "enum of texts:
# refused"; ajv says the reverse of each but UTC and the last. Exits with 1 when that changes. Needs Node.js 20 or later.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @dmitryrechkin/json-schema-to-zod@1.0.1 zod@3.25.76 ajv@8.17.1 ajv-formats@3.0.1
cat > run.js <<'JS'
import { JSONSchemaToZod } from '@dmitryrechkin/json-schema-to-zod';
import Ajv2020 from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const ajv = new Ajv2020.default({ strict: false });
formats.default(ajv);
const time = { type: 'string', format: 'date-time' };
const cases = {
  offset: [time, '2026-12-01T09:00:00+07:00', 'refused', 'accepted'],
  UTC: [time, '2026-12-01T02:00:00Z', 'accepted', 'accepted'],
  pattern: [{ type: 'string', pattern: '^x' }, 'y', 'accepted', 'refused'],
  minLength: [{ type: 'string', minLength: 2 }, 'x', 'accepted', 'refused'],
  minimum: [{ type: 'number', minimum: 1 }, 0, 'accepted', 'refused'],
  'enum of numbers': [{ type: 'integer', enum: [1, 2] }, 3, 'accepted', 'refused'],
  'enum of texts': [{ type: 'string', enum: ['a', 'b'] }, 'c', 'refused', 'refused'],
};
let asSeen = true;
for (const [name, [member, value, wanted, right]] of Object.entries(cases)) {
  const schema = { type: 'object', properties: { member }, required: ['member'] };
  const seen = JSONSchemaToZod.convert(schema).safeParse({ member: value }).success ? 'accepted' : 'refused';
  const byAjv = ajv.validate(schema, { member: value }) ? 'accepted' : 'refused';
  console.log(`${name}: ${JSON.stringify(value)} ${seen}, ajv ${byAjv}`);
  asSeen &&= seen === wanted && byAjv === right;
}
process.exit(asSeen ? 0 : 1);
JS
timeout 60 node run.js
