// Writes docs/configuration.md and the pages in docs/configuration with every key of gateway.yaml, from the schemas that validate it, and
// the list of plugins that register sections. test/ci/configuration.test.ts fails if any of these is out of date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument as parseYaml, isMap, isScalar } from 'yaml';
import { createUpstreamsSchema } from '#core/config/sections/upstreams-section.ts';
import { assemble } from '#core/extension/assembly.ts';
import type { Registry } from '#core/extension/registry.ts';
import { pipelineSection } from '#core/extension/validation/pipeline-rules.ts';
import { createLogger } from '#core/platform/logger.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

const root = join(import.meta.dirname, '..');

/** A gateway.yaml that uses every section. Each page shows its part of it, in the same order. */
export const exampleFile = join(import.meta.dirname, 'configuration-example.yaml');

/** A page covers the example's sections from `from` up to the next page. */
const pages = [
  { file: 'server', title: 'Configuration: the server', from: 'service' },
  { file: 'pipeline', title: 'Configuration: the pipeline', from: 'pipeline' },
  { file: 'upstreams', title: 'Configuration: upstreams', from: 'upstreams' },
  { file: 'models', title: 'Configuration: models', from: 'models' },
  { file: 'sales', title: 'Configuration: plans and payments', from: 'plans' },
  { file: 'customers', title: 'Configuration: customers', from: 'sign_in' },
] as const;

const columns = 140;
const writtenBy = '<!-- Written by `npm run docs:configuration` from the schemas in the code; change those. -->';

export async function ownRegistry(): Promise<Registry> {
  const { registry } = await assemble(undefined, createLogger(), () => {
    throw new Error('nothing is served');
  });
  return registry;
}

/** Maps each section outside core to its plugin, so that an error can name the plugin even if its folder is missing. */
export const sectionsFile = 'core/extension/validation/plugins-of-sections.json';

export function listPluginsOfSections({ sectionPlugins }: Registry): string {
  const own = [...sectionPlugins].filter(([, plugin]) => plugin !== 'core').toSorted();
  return `${JSON.stringify(Object.fromEntries(own), undefined, 2)}\n`;
}

export function renderPages(registry: Registry): Map<string, string> {
  const examples = readExamples();
  const names = [...new Set([...examples.keys(), ...registry.sections.keys()])];
  const begins = pages.map(({ from }) => names.indexOf(from));
  const groups = pages.map((page, index) => ({ ...page, names: names.slice(begins[index], begins[index + 1]) }));
  const sections = groups.map(({ file, title, names: own }): [string, string] => [
    `docs/configuration/${file}.md`,
    [`# ${title}`, writtenBy, ...own.map((name) => renderSection(registry, name, examples.get(name)))].join('\n\n'),
  ]);
  return new Map(
    [['docs/configuration.md', renderIndex(groups)] as const, ...sections].map(([path, text]) => [path, `${text}\n`]),
  );
}

function renderSection(registry: Registry, name: string, example: string | undefined): string {
  const own = name === 'pipeline' ? pipelineSection(registry) : registry.sections.get(name);
  const schema = name === 'upstreams' ? createUpstreamsSchema(registry) : (own?.schema ?? {});
  return [
    `## ${name}`,
    wrap(
      `${schema.description ?? ''}${registry.sections.get(name)?.fixed === true ? describeNextStart(schema.description) : ''}`,
    ),
    ...(example === undefined ? [] : [`\`\`\`yaml\n${example}\n\`\`\``]),
    ...(name === 'pipeline' ? describeStages(registry) : describeKeys(schema)),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function renderIndex(groups: readonly { readonly file: string; readonly names: readonly string[] }[]): string {
  const rows = groups.map(({ file, names }) => {
    const links = names.map((name) => `[${name}](configuration/${file}.md#${name})`);
    return `| [${file}](configuration/${file}.md) | ${links.join(' · ')} |`;
  });
  return `# Configuration

${writtenBy}

These pages list every key of gateway.yaml with its type, limits, default and meaning. \`daypass check\` validates the file and prints the
resulting configuration. \`daypass schema\` writes the same as a JSON Schema for completion in editors, including the keys of your plugins.

Every value may be \`\${NAME}\` (an environment variable), \`\${NAME:-default}\` or \`\${file:/run/secrets/name}\`
([secrets](operating/commands.md#secrets)). In the tables, \`NAME\` stands for a name that you choose, and \`[]\` for each entry of a list.
[Commands](operating/commands.md#environment) lists the environment variables of the gateway itself.

If the file has errors at a reload, the running configuration stays in force. Each error is logged with its line and the accepted values,
never with a secret. To turn a stage off, write \`- cache: false\` in \`pipeline\`. \`log\` and \`upstream\` cannot simply be omitted: turn
them off in the same way.

| Page | Sections |
|---|---|
${rows.join('\n')}`;
}

function wrap(paragraph: string): string {
  const lines: string[] = [];
  for (const word of paragraph.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

function describeNextStart(description = ''): string {
  return /next start/.test(description) ? '' : ' Changes take effect at the next start.';
}

function describeStages({ stages }: Registry): string[] {
  return [...stages.values()].flatMap(({ name, description, options }) => [
    `### ${name}`,
    wrap(description),
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

/** Depth first: `port`, `other.limit`, `NAME.api_keys`, `[].days`. Keys shared by several maps are listed only under the first. */
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
  if (types.includes('array')) return `list${items === undefined ? '' : ` of ${toPlural(describeType(items))}`}`;
  return types.map((type) => `${typeWords[String(type)] ?? String(type)}${limitsOf(schema)}`).join(' or ');
}

const typeWords: Readonly<Record<string, string>> = { object: 'map', boolean: '`true` or `false`', string: 'text' };

function toPlural(words: string): string {
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
  if (text === '{}') return '—';
  return text.length > 60 ? 'see the example' : `\`${text.replace(/^"(.+)"$/, '$1')}\``;
}

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
  mkdirSync(join(root, 'docs', 'configuration'), { recursive: true });
  const registry = await ownRegistry();
  for (const [path, text] of renderPages(registry)) writeFileSync(join(root, path), text);
  writeFileSync(join(root, sectionsFile), listPluginsOfSections(registry));
  process.exit(0);
}
