import { formatPath } from '../reader.ts';
import { quoteAlways } from '../writers.ts';
import type { FileAction, ScriptAction } from './describe-actions.ts';
import { json } from './edit/json.mjs';
import { fillPlaceholders, findVariant } from './program/variant.mjs';
import type { ScriptData, ScriptTool } from './script-data.ts';

/**
 * Renders the service's names, and a table of tools with the settings for their default models. The shell expands only the user's folders,
 * because text from gateway.yaml is in single quotes.
 */
export function renderShellTable(data: ScriptData): string {
  const { service, slug, baseUrl, keyPrefix, keyVariable, tools } = data;
  return [
    ...Object.entries({ service, slug, base_url: baseUrl, key_prefix: keyPrefix, key_variable: keyVariable }).map(
      ([name, value]) => `${name}=${quoteAlways(value)}`,
    ),
    '\n# Table of tools for systems without a runtime: how each tool is found, and which settings go where.',
    `each_tool() {\n${tools.map((tool) => renderTool(tool, data)).join('')}}`,
  ].join('\n');
}

function renderTool(tool: ScriptTool, data: ScriptData): string {
  const { id, name, isOnRequest, commands, folders } = tool;
  const shownName = name.replaceAll(/\p{Cc}+/gu, ' ');
  const words = [id, shownName, isOnRequest ? 'yes' : 'no', commands.join(' ')].map(quoteAlways);
  const actions = listDefaultActions(tool, data);
  const places = actions.filter((action) => action.kind === 'place');
  const lines = actions.map((action) => renderAction(action, places)).join('');
  return `  if tool ${[...words, ...folders.map((folder) => renderPath(folder, []))].join(' ')}; then\n${lines}    finish\n  fi\n`;
}

function listDefaultActions(tool: ScriptTool, data: ScriptData): readonly ScriptAction[] {
  const variant = findVariant(tool, data);
  if (variant === undefined) return [];
  // Model names are plain, so they need no escaping in JSON.
  return JSON.parse(
    fillPlaceholders(JSON.stringify(variant.actions), { ...variant.values, KEY: '@KEY@' }),
  ) as ScriptAction[];
}

type Place = Extract<ScriptAction, { readonly kind: 'place' }>;

function renderAction(action: ScriptAction, places: readonly Place[]): string {
  switch (action.kind) {
    case 'file':
      return renderFile(action, places);
    case 'variable':
      return `    variable ${action.name} ${quoteAlways(action.value)}\n`;
    default:
      return '';
  }
}

function renderFile(action: FileAction, places: readonly Place[]): string {
  const { format, path, macos } = action;
  const settings = quoteAlways(removeUncertainMembers(action).replace(/\n+$/, ''));
  const renderCall = (source: string) => {
    const paths = source.split('|').map((candidate) => renderPath(candidate, places));
    return `    file ${[format, quoteAlways(source), settings, ...paths].join(' ')}\n`;
  };
  if (macos === undefined) return renderCall(path);
  return `    if [ "$SETUP_SYSTEM" = darwin ]; then\n  ${renderCall(macos)}    else\n  ${renderCall(path)}    fi\n`;
}

function renderPath(path: string, places: readonly Place[]): string {
  const movedFolder = places.find(({ folder }) => folder.startsWith('~') && path.startsWith(`${folder}/`));
  if (movedFolder === undefined) return `"${expandHome(path)}"`;
  return `"\${${movedFolder.variable}:-${expandHome(movedFolder.folder)}}${escapeForShell(path.slice(movedFolder.folder.length))}"`;
}

function expandHome(path: string): string {
  if (path.startsWith('~/.config/')) return `$config${escapeForShell(path.slice('~/.config'.length))}`;
  return path === '~' || path.startsWith('~/') ? `$HOME${escapeForShell(path.slice(1))}` : escapeForShell(path);
}

function escapeForShell(text: string): string {
  return text.replaceAll(/["\\$`]/g, '\\$&');
}

export function renderPowershellTable(data: ScriptData): string {
  const tools = data.tools.map((tool) => {
    const { id, name, isOnRequest, commands, folders } = tool;
    const actions = listDefaultActions(tool, data);
    return {
      id,
      name,
      isOnRequest,
      commands,
      folders: folders.map((path) => formatPath('windows', { path })),
      files: actions.flatMap((action) => (action.kind === 'file' ? [describeFile(action)] : [])),
      variables: actions.flatMap((action) => (action.kind === 'variable' ? [action] : [])),
    };
  });
  return renderAsciiJson({ tools });
}

function describeFile(action: FileAction) {
  const { format, windows: path, identity } = action;
  return { format, path, identity: identity?.join(',') ?? '-', text: removeUncertainMembers(action) };
}

function removeUncertainMembers({ text, initial = [], elsewhere }: FileAction): string {
  // These members depend on other files, which the launcher cannot read.
  return elsewhere === undefined ? text : json.withoutPresent(text, text, initial);
}

/** One line of ASCII cannot end a here-document or here-string. */
export function renderAsciiJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
