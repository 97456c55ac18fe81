/**
 * Writes kubernetes.json: the published schemas of the kinds in deploy/kubernetes, without descriptions and closed against unknown fields,
 * as the API server reads manifests with `--validate=strict`. Needs Go, which downloads the modules that publish them.
 *
 *     node test/deploy/schemas/make.ts && npm run format
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';

const run = promisify(execFile);

type Schema = { [key: string]: unknown };

interface CustomResource {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** Kinds of Kubernetes itself, by apiVersion. */
const kubernetes = {
  module: 'k8s.io/kubernetes@v1.37.2',
  file: 'api/openapi-spec/swagger.json',
  kinds: {
    'v1/ConfigMap': 'io.k8s.api.core.v1.ConfigMap',
    'v1/PersistentVolumeClaim': 'io.k8s.api.core.v1.PersistentVolumeClaim',
    'v1/Secret': 'io.k8s.api.core.v1.Secret',
    'v1/Service': 'io.k8s.api.core.v1.Service',
    'apps/v1/StatefulSet': 'io.k8s.api.apps.v1.StatefulSet',
    'autoscaling/v2/HorizontalPodAutoscaler': 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
    'batch/v1/CronJob': 'io.k8s.api.batch.v1.CronJob',
    'networking.k8s.io/v1/Ingress': 'io.k8s.api.networking.v1.Ingress',
    'networking.k8s.io/v1/NetworkPolicy': 'io.k8s.api.networking.v1.NetworkPolicy',
    'policy/v1/PodDisruptionBudget': 'io.k8s.api.policy.v1.PodDisruptionBudget',
  },
};

/** Custom resources, by the module that has their definition. */
const customResources = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.6.3',
    file: 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
    version: 'v1',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
    version: 'v1',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
    version: 'v1',
  },
  {
    module: 'github.com/kedacore/keda/v2@v2.21.0',
    file: 'config/crd/bases/keda.sh_scaledobjects.yaml',
    version: 'v1alpha1',
  },
];

/** Members whose keys are names of fields, not keywords. */
const fieldMaps = new Set(['properties', 'definitions']);
/** Keywords that say nothing about what is valid, or that no JSON Schema validator knows. */
const unread = new Set(['description', 'default', 'example', 'externalDocs', 'format', 'title']);

async function readModule(module: string, file: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: tmpdir() });
  const { Dir: folder } = JSON.parse(stdout) as { readonly Dir: string };
  return readFile(join(folder, file), 'utf8');
}

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
