/**
 * Writes kubernetes.json: the published schemas of the kinds in deploy/kubernetes, without descriptions and closed against unknown fields,
 * as the API server reads manifests with `--validate=strict`. Needs Go, which downloads the modules that publish them.
 *
 *     node test/deploy/schemas/make.ts && npm run format
 */
import { writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { customResources, kubernetes, readModule } from './sources.ts';

type Schema = { [key: string]: unknown };

interface CustomResource {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** Members whose keys are names of fields, not keywords. */
const fieldMaps = new Set(['properties', 'definitions']);
/** Keywords that say nothing about what is valid, or that no JSON Schema validator knows. */
const unread = new Set(['description', 'default', 'example', 'externalDocs', 'format', 'title']);

/** As the API server reads it. */
function toJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJsonSchema);
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as Schema;
  if (schema['x-kubernetes-int-or-string'] === true || schema['format'] === 'int-or-string')
    return { type: ['integer', 'string'] };
  const kept = Object.entries(schema)
    .filter(([key]) => !unread.has(key) && !key.startsWith('x-kubernetes-'))
    .map(([key, member]) => [key, toMember(key, member)]);
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  return {
    ...Object.fromEntries(kept),
    ...(schema['properties'] !== undefined &&
      schema['additionalProperties'] === undefined &&
      !isOpen && { additionalProperties: false }),
  };
}

function toMember(key: string, member: unknown): unknown {
  if (fieldMaps.has(key)) return mapValues(member as Schema);
  if (key === 'pattern' && typeof member === 'string') return member.replace(/\(\?i\)(.*?)(\$?)$/, '(?i:$1)$2'); // Go's flag
  return toJsonSchema(member);
}

function mapValues(schemas: Schema): Schema {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toJsonSchema(schema)]));
}

/** The definitions that these need, and no others. */
function reachable(definitions: Schema, first: readonly string[]): Schema {
  const found = new Map<string, unknown>();
  const queue = [...first];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (found.has(name)) continue;
    found.set(name, definitions[name]);
    const text = JSON.stringify(definitions[name]);
    queue.push(...text.matchAll(/"#\/definitions\/([^"]+)"/g).map(([, other = '']) => other));
  }
  return Object.fromEntries([...found].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const { definitions } = JSON.parse(await readModule(kubernetes.module, kubernetes.file)) as { definitions: Schema };
// Any field of managed fields is written by the server.
const own = mapValues(reachable(definitions, Object.values(kubernetes.kinds)));
const kinds: Schema = Object.fromEntries(
  Object.entries(kubernetes.kinds).map(([kind, name]) => [kind, { $ref: `#/definitions/${name}` }]),
);
for (const { module, file, version } of customResources) {
  const { spec } = parse(await readModule(module, file)) as CustomResource;
  const schema = spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema as Schema;
  const made = toJsonSchema(schema) as { properties: Schema };
  // A custom resource's own schema leaves this open.
  made.properties['metadata'] = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
  kinds[`${spec.group}/${version}/${spec.names.kind}`] = made;
}
const sources = [kubernetes, ...customResources].map(({ module, file }) => `${module} ${file}`);
const file = new URL('./kubernetes.json', import.meta.url);
await writeFile(file, `${JSON.stringify({ sources, kinds, definitions: own })}\n`);
