import { quote, quoteAlways } from '../writers/shell.ts';
import type { FileAction, ScriptAction } from './actions.ts';
import type { ScriptData, ScriptTool } from './script-data.ts';

/**
 * The data of setup.sh as shell text: variables, and functions that print tables whose columns are separated by tabs.
 * An empty column is `-`. Nothing in it is expanded: what comes from gateway.yaml is in single quotes or quoted here-documents.
 */
export function writeData(data: ScriptData): string {
  const { service, slug, formerSlugs, baseUrl, keyPrefix, keyVariable, models, defaults, tools } = data;
  return [
    assign({
      service,
      slug,
      former_slugs: formerSlugs.join(' '),
      base_url: baseUrl,
      key_prefix: keyPrefix,
      key_variable: keyVariable,
    }),
    '# id, name, format, on request, commands, folders, command that starts it',
    table('list_tools', tools.map(toolRow)),
    '# name, tokens of a prompt, tokens of an answer, traits',
    table(
      'list_models',
      models.map(({ name, context, output, traits }) => [name, context, output, traits]),
    ),
    '# format, model, small model (- for the model itself)',
    table(
      'list_defaults',
      defaults.map(({ format, model, small }) => [format, model, small]),
    ),
    '# configure TOOL: what shall be where; the texts depend on $traits of the model',
    `configure() {\n  case $1 in\n${tools.map(writeTool).join('')}  esac\n}\n`,
  ].join('\n');
}

function assign(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quoteAlways(value)}\n`);
  return lines.join('');
}

type Cell = string | number | undefined;

function table(name: string, rows: readonly (readonly Cell[])[]): string {
  const lines = rows.map((cells) => cells.map(cellOf).join('\t'));
  return `${name}() {\n  cat ${hereDocument(lines.join('\n'))}}\n`;
}

/** A line end or tab in a cell would make another row or column. */
function cellOf(cell: Cell): string {
  const text = String(cell ?? '').replaceAll(/\p{Cc}+/gu, ' ');
  return text === '' ? '-' : text;
}

function toolRow({ id, name, format, isOnRequest, commands, folders, start }: ScriptTool): Cell[] {
  return [id, name, format, isOnRequest ? 'yes' : 'no', commands.join(' '), folders.join(' '), start];
}

function writeTool({ id, variants }: ScriptTool): string {
  return `    ${id})\n${writeVariants(variants)};;\n`;
}

/** Actions that differ between models are in a `case`; where all variants have equally many, each action by itself. */
function writeVariants(variants: ScriptTool['variants']): string {
  const counts = new Set(variants.map(({ actions }) => actions.length));
  if (counts.size > 1)
    return writeCases(variants.map(({ traits, actions }) => ({ traits, text: actions.map(writeAction).join('') })));
  const [first] = variants;
  return (first?.actions ?? [])
    .map((_, index) =>
      writeCases(
        variants.map(({ traits, actions }) => ({
          traits,
          text: actions
            .slice(index, index + 1)
            .map(writeAction)
            .join(''),
        })),
      ),
    )
    .join('');
}

function writeCases(cases: readonly { readonly traits: readonly string[]; readonly text: string }[]): string {
  const byText = Map.groupBy(cases, ({ text }) => text);
  if (byText.size === 1) return cases[0]?.text ?? '';
  const written = [...byText].map(([text, same]) => `${same.flatMap(({ traits }) => traits).join('|')})\n${text};;\n`);
  return `case $traits in\n${written.join('')}esac\n`;
}

function writeAction(action: ScriptAction): string {
  switch (action.kind) {
    case 'place':
      // Other folders are those of Windows.
      return action.folder.startsWith('~') ? `place ${action.variable} ${quoteAlways(action.folder)}\n` : '';
    case 'file':
      return writeFile(action);
    case 'variable':
      return `variable ${action.name} ${quoteAlways(action.value)}\n`;
    case 'note':
      return `note ${quoteAlways(action.text)}\n`;
  }
}

function writeFile({ format, path, macos, identity = [], initial, at, text }: FileAction): string {
  const members = [identity.join(',') || '-', ...(initial === undefined ? [] : [initial.join(',')])];
  const words = [
    quoteAlways(path),
    macos === undefined ? '-' : quoteAlways(macos),
    quote(members.join(';')),
    at ?? '-',
  ];
  return `file ${format} ${words.join(' ')} ${quoteAlways(text.replace(/\n+$/, ''))}\n`;
}

/** `<<'DATA'` with the text: a shell expands nothing in it. The delimiter is no line of the text. */
export function hereDocument(text: string): string {
  const lines = new Set(text.split('\n'));
  let delimiter = 'DATA';
  while (lines.has(delimiter)) delimiter += '_';
  return `<<'${delimiter}'\n${text}\n${delimiter}\n`;
}
