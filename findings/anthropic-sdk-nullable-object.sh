#!/bin/sh
# @anthropic-ai/sdk 1.14.0, lib/transform-json-schema: a nullable object, written as `type: ["object", "null"]` as OpenAI's guide to strict
# schemas writes it, loses its properties. They go into the description as text, `additionalProperties: false` is not set, and the members
# inside it are not transformed, although the same object written as `type: "object"`, or as `anyOf` with null, keeps all of them.
#
# Seen: the transformed schema has the type and a description "{properties: …}", and no `properties`.
# Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" @anthropic-ai/sdk@1.14.0 >/dev/null
cat > run.cjs <<'JS'
const { transformJSONSchema } = require('@anthropic-ai/sdk/lib/transform-json-schema');
const properties = { name: { type: 'string' } };
const asList = transformJSONSchema({ type: ['object', 'null'], properties, required: ['name'] });
const asObject = transformJSONSchema({ type: 'object', properties, required: ['name'] });
console.log('type: ["object", "null"] ->', JSON.stringify(asList));
console.log('type: "object"           ->', JSON.stringify(asObject));
const isLost = asList.properties === undefined && String(asList.description).includes('properties:');
process.exit(isLost && asObject.properties !== undefined ? 0 : 1);
JS
node run.cjs
