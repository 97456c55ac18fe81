import { quoteAlways } from '../writers/shell.ts';
import type { FileAction, ScriptAction } from './actions.ts';
import { hereDocument } from './here-document.ts';
import type { ScriptData, ScriptModel, ScriptTool } from './script-data.ts';

/**
 * What setup.sh needs of the data without a runtime, as shell text: the names of the service, the tools as a table whose columns
 * are separated by tabs, and the settings of each tool with its default model. Nothing in it is expanded: what comes from
 * gateway.yaml is in single quotes or quoted here-documents.
 */
export function writeTables(data: ScriptData): string {
  const { service, slug, baseUrl, keyPrefix, keyVariable, tools } = data;
  return [
    assign({ service, slug, base_url: baseUrl, key_prefix: keyPrefix, key_variable: keyVariable }),
    '# id, name, on request, commands, folders',
    `list_tools() {\n  cat ${hereDocument(tools.map(toolRow).join('\n'))}}\n`,
    '# configure TOOL: what shall be where, with its default model',
    `configure() {\n  case $1 in\n${tools.map((tool) => writeTool(tool, data)).join('')}  esac\n}`,
  ].join('\n');
}

function assign(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quoteAlways(value)}\n`);
  return lines.join('');
}

/** A line end or tab in a cell would make another row or column; an empty one would join its neighbours. */
function toolRow({ id, name, isOnRequest, commands, folders }: ScriptTool): string {
  const cells = [id, name, isOnRequest ? 'yes' : 'no', commands.join(' ') || '-', folders.join(' ') || '-'];
  return cells.map((cell) => cell.replaceAll(/\p{Cc}+/gu, ' ')).join('\t');
}

function writeTool(tool: ScriptTool, data: ScriptData): string {
  return `    ${tool.id})\n${defaultActions(tool, data).map(writeAction).join('')}      ;;\n`;
}

/** The actions of a tool with the default model of its format; only the key is left to fill in. */
export function defaultActions(
  { format, variants }: ScriptTool,
  { defaults, models }: ScriptData,
): readonly ScriptAction[] {
  const chosen = defaults.find((one) => one.format === format);
  const find = (name: string | undefined) => models.find((model) => model.name === name);
  const model = find(chosen?.model);
  const small = find(chosen?.small) ?? model;
  const traits = model && (model === small ? `${model.traits}-same` : model.traits);
  const variant = variants.find((one) => traits !== undefined && one.traits.includes(traits));
  if (variant === undefined || model === undefined || small === undefined) return [];
  return JSON.parse(fill(JSON.stringify(variant.actions), model, small)) as ScriptAction[];
}

/** Names of models are plain: they need no quotes in JSON. */
function fill(text: string, model: ScriptModel, small: ScriptModel): string {
  const values: Readonly<Record<string, string | number | undefined>> = {
    MODEL: model.name,
    SMALL: small.name,
    CONTEXT: model.context,
    OUTPUT: model.output,
    SMALL_CONTEXT: small.context,
    SMALL_OUTPUT: small.output,
  };
  return text.replaceAll(/@(MODEL|SMALL|CONTEXT|OUTPUT|SMALL_CONTEXT|SMALL_OUTPUT)@/g, (_, name: string) =>
    String(values[name] ?? ''),
  );
}

function writeAction(action: ScriptAction): string {
  switch (action.kind) {
    case 'place':
      // Other folders are those of Windows.
      return action.folder.startsWith('~') ? `      place ${action.variable} ${quoteAlways(action.folder)}\n` : '';
    case 'file':
      return writeFile(action);
    case 'variable':
      return `      variable ${action.name} ${quoteAlways(action.value)}\n`;
    case 'note':
      return '';
  }
}

function writeFile({ format, path, macos, text }: FileAction): string {
  const place = macos === undefined ? '-' : quoteAlways(macos);
  return `      file ${format} ${quoteAlways(path)} ${place} ${quoteAlways(text.replace(/\n+$/, ''))}\n`;
}
