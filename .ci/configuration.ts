// Writes docs/configuration.md: every key of gateway.yaml, from the schemas that validate it. test/ci/configuration.test.ts fails when
// the page is not what this writes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument as parseYaml, isMap, isScalar } from 'yaml';
import { assemble } from '#core/extension/assembly.ts';
import { upstreamsSchema } from '#core/config/sections/upstreams-section.ts';
import { pipelineSection } from '#core/extension/validation/pipeline-rules.ts';
import type { Registry } from '#core/extension/registry.ts';
import { createLogger } from '#core/platform/logger.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

const root = join(import.meta.dirname, '..');

/** A gateway.yaml that uses every section; the page shows the part of it below each. */
export const exampleFile = join(import.meta.dirname, 'configuration-example.yaml');
/** The page. */
export const pageFile = join(root, 'docs', 'configuration.md');

/** A registry with the gateway's own plugins. */
export async function ownRegistry(): Promise<Registry> {
  const { registry } = await assemble(undefined, createLogger(), () => {
    throw new Error('nothing is served');
  });
  return registry;
}

/** The page, as Markdown. */
export function renderPage(registry: Registry): string {
  const examples = readExamples();
  const names = [...new Set([...examples.keys(), ...registry.sections.keys()])];
  const sections = names.map((name) => {
    const own = name === 'pipeline' ? pipelineSection(registry) : registry.sections.get(name);
    const schema = name === 'upstreams' ? upstreamsSchema(registry) : (own?.schema ?? {});
    return [
      `## ${name}`,
      `${schema.description ?? ''}${registry.sections.get(name)?.fixed === true ? atNextStart(schema.description) : ''}`,
      ...(examples.has(name) ? [`\`\`\`yaml\n${examples.get(name)}\n\`\`\``] : []),
      ...(name === 'pipeline' ? describeStages(registry) : describeKeys(schema)),
    ]
      .filter((part) => part !== '')
      .join('\n\n');
  });
  return `${introduction(names)}\n\n${sections.join('\n\n')}\n`;
}

function introduction(names: readonly string[]): string {
  return `# Configuration

<!-- Written by \`npm run docs:configuration\` from the schemas in the code; change those. -->

Every key of gateway.yaml, with its type and limits, its default and what it does. \`daypass check\` validates the file and prints what would
run; \`daypass schema\` writes the same as a JSON Schema, with the keys of your plugins, for completion in editors. Every value may be
\`\${NAME}\` (an environment variable), \`\${NAME:-default}\` or \`\${file:/run/secrets/name}\` ([secrets](operating.md#secrets)). In the tables,
\`NAME\` stands for a name that you choose, and \`[]\` for each entry of a list.

From the environment come \`DATABASE_URL\`, \`DATABASE_DIRECT_URL\`, \`DATABASE_READ_URL\`, \`REDIS_URL\`, \`REDIS_QUEUE_URL\`, \`LOG_FORMAT\`, \`LOG_LEVEL\`, \`NODE_ENV\` and \`GATEWAY_CONFIG\`
([scaling](scaling.md), [operating](operating.md)).

${names.map((name) => `[${name}](#${name})`).join(' · ')}`;
}

function atNextStart(description = ''): string {
  return /next start/.test(description) ? '' : ' Changes take effect at the next start.';
}

function describeStages({ stages }: Registry): string[] {
  return [...stages.values()].flatMap(({ name, description, options }) => [
    `### ${name}`,
    description,
    ...describeKeys(options),
  ]);
}

interface Row {
  readonly path: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

function describeKeys(schema: JsonSchema): string[] {
  const rows = listKeys(schema, '', new Map());
  if (rows.length === 0) return schema.properties === undefined ? [describeValue(schema)] : ['No options.'];
  return [
    [
      '| Key | Value | Default | Meaning |',
      '|---|---|---|---|',
      ...rows.map((row) => {
        const { path, schema: one, isRequired } = row;
        const cells = [`\`${path}\``, describeType(one), defaultOf(one, isRequired), one.description ?? ''];
        return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
      }),
    ].join('\n'),
  ];
}

function describeValue(schema: JsonSchema): string {
  return `Value: ${describeType(schema)}. Default: ${defaultOf(schema, false)}.`;
}

/**
 * The keys of a schema, depth first: `port`, `other.limit`, `NAME.api_keys`, `[].days`. Keys that several maps share are listed at the
 * first of them.
 */
function listKeys(schema: JsonSchema, path: string, seen: Map<string, string>): Row[] {
  const { properties = {}, additionalProperties, items, required = [] } = schema;
  const under = (name: string) => (path === '' ? name : `${path}.${name}`);
  const inner: Row[] = Object.entries(properties).flatMap(([name, member]) => {
    const own = under(name);
    const contents = JSON.stringify(member.properties);
    const first = contents === undefined ? undefined : seen.get(contents);
    const row = { path: own, schema: member, isRequired: required.includes(name) };
    if (first !== undefined)
      return [
        { ...row, schema: { ...member, description: `${member.description ?? ''} Keys: as of \`${first}\`.`.trim() } },
      ];
    if (contents !== undefined) seen.set(contents, own);
    return [row, ...listKeys(member, own, seen)];
  });
  const entries = typeof additionalProperties === 'object' ? listKeys(additionalProperties, under('NAME'), seen) : [];
  const inList = items === undefined ? [] : listKeys(items, `${path}[]`, seen);
  const others = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => listKeys(one, path, seen));
  return [...inner, ...entries, ...inList, ...others];
}

function describeType(schema: JsonSchema): string {
  const { enum: choices, items, anyOf, oneOf, const: fixed } = schema;
  if (fixed !== undefined) return `\`${JSON.stringify(fixed)}\``;
  if (choices !== undefined) return choices.map((choice) => `\`${String(choice)}\``).join(', ');
  const alternatives = anyOf ?? oneOf;
  if (alternatives !== undefined) return [...new Set(alternatives.map(describeType))].join(' or ');
  const types = [schema.type].flat().filter((type) => type !== undefined);
  if (types.includes('array')) return `list${items === undefined ? '' : ` of ${plural(describeType(items))}`}`;
  return types.map((type) => `${typeWords[String(type)] ?? String(type)}${limitsOf(schema)}`).join(' or ');
}

const typeWords: Readonly<Record<string, string>> = { object: 'map', boolean: '`true` or `false`', string: 'text' };

function plural(words: string): string {
  return words.replace(/^(map|integer|number)\b/, '$1s').replace(/^text\b/, 'texts');
}

function limitsOf({ minimum, maximum, minLength, maxLength }: JsonSchema): string {
  const unit = minLength === undefined && maxLength === undefined ? '' : ' characters';
  const [least, most] = [minimum ?? minLength, maximum ?? maxLength].map((one) => one?.toLocaleString('en'));
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}${unit}`;
  if (least !== undefined) return minLength === 1 && most === undefined ? '' : `, at least ${least}${unit}`;
  return most === undefined ? '' : `, at most ${most}${unit}`;
}

function defaultOf({ default: fallback }: JsonSchema, isRequired: boolean): string {
  if (isRequired) return 'required';
  if (fallback === undefined) return '—';
  const text = JSON.stringify(fallback);
  return text === '{}' ? '—' : text.length > 60 ? 'see the example' : `\`${text.replace(/^"(.+)"$/, '$1')}\``;
}

/** The lines of each section of the example. */
function readExamples(): Map<string, string> {
  const text = readFileSync(exampleFile, 'utf8');
  const { contents } = parseYaml(text);
  if (!isMap(contents)) throw new Error(`${exampleFile} is not a map`);
  return new Map(
    contents.items.map(({ key, value }) => {
      if (!isScalar(key)) throw new Error(`${exampleFile} has a key that is no text`);
      const end = (value as { readonly range: readonly [number, number, number] }).range[2];
      return [String(key.value), text.slice(key.range?.[0], end).trimEnd()];
    }),
  );
}

if (import.meta.main) {
  writeFileSync(pageFile, renderPage(await ownRegistry()));
  process.exit(0);
}
