#!/bin/sh
# zod 4.6.7 (JavaScript), z.fromJSONSchema: `required` counts only where `properties` of the same schema has the name, and `properties` only
# beside a `type`. The usual way to say that one of two members must be there, `anyOf: [{required: ["to"]}, {required: ["cc"]}]` beside the
# object's properties, is dropped without a word, and so are `required` in an `allOf` and rules beside a `$ref`. What it cannot convert
# otherwise (`not`, `if`, `dependentRequired`) it refuses with an error, so that a schema that is accepted seems to be checked. Tools whose
# schemas come from elsewhere, as those of MCP servers, are then called with arguments that their schema forbids.
#
# Seen: accepted where JSON Schema refuses, in five of five: "one of two: {}", "in allOf: {}", "required alone: {}", "without type:
# {"a":1}" and "beside $ref: {"a":"x"}". ajv refuses each. Exits with 1 when that changes. Needs Node.js 20 or later.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund zod@4.6.7 ajv@8.17.1
cat > run.js <<'JS'
import Ajv2020 from 'ajv/dist/2020.js';
import * as z from 'zod';

const text = { type: 'string' };
const cases = {
  'one of two': [{ type: 'object', properties: { to: text, cc: text }, anyOf: [{ required: ['to'] }, { required: ['cc'] }] }, {}],
  'in allOf': [{ type: 'object', properties: { a: text }, allOf: [{ required: ['a'] }] }, {}],
  'required alone': [{ type: 'object', required: ['a'] }, {}],
  'without type': [{ properties: { a: text }, required: ['a'] }, { a: 1 }],
  'beside $ref': [
    { type: 'object', $defs: { Name: text }, properties: { a: { $ref: '#/$defs/Name', minLength: 3 } }, required: ['a'] },
    { a: 'x' },
  ],
};
let asSeen = true;
for (const [name, [schema, value]] of Object.entries(cases)) {
  const ajv = new Ajv2020.default({ strict: false }).validate(schema, value) ? 'accepted' : 'refused';
  const zod = z.fromJSONSchema(schema).safeParse(value).success ? 'accepted' : 'refused';
  console.log(`${name}: ${JSON.stringify(value)} ajv ${ajv}, zod ${zod}`);
  asSeen &&= ajv === 'refused' && zod === 'accepted';
}
process.exit(asSeen ? 0 : 1);
JS
timeout 60 node run.js
