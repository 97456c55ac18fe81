import { readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Texts } from '#core/web/texts/texts.ts';
import type { ScriptedTool, SetupTool } from './tool.ts';

/** Groups in the order of the page. */
export const groups = ['agents', 'editors', 'libraries'] as const satisfies readonly SetupTool['group'][];

/** All tools, in the order of lists. To add a tool, add a file in tools/: each of its exports is a tool. */
export const tools: readonly SetupTool[] = (await readTools(join(import.meta.dirname, 'tools'))).toSorted(compare);

async function readTools(folder: string): Promise<SetupTool[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith(extname(import.meta.filename)));
  const modules = files.map(
    (name) => import(pathToFileURL(join(folder, name)).href) as Promise<Record<string, SetupTool>>,
  );
  return (await Promise.all(modules)).flatMap((exported) => Object.values(exported));
}

/** Orders by group, then by `order`, then by name. */
function compare(a: SetupTool, b: SetupTool): number {
  const byGroup = groups.indexOf(a.group) - groups.indexOf(b.group);
  const byOrder = (a.order ?? 100) - (b.order ?? 100);
  return byGroup || byOrder || a.name.localeCompare(b.name, 'en');
}

/** Text key of the tool's note. */
export const noteKey = ({ id }: SetupTool): string => `setup.note.${id.replaceAll('-', '_')}`;

export function textsOf(tool: SetupTool): Texts {
  const { note, texts } = tool;
  const own = (text: string | undefined) => (text === undefined ? {} : { [noteKey(tool)]: text });
  return { en: { ...texts?.en, ...own(note?.en) }, id: { ...texts?.id, ...own(note?.id) } };
}

export const scriptedTools = tools.filter((tool): tool is ScriptedTool => tool.script !== undefined);

/** The formats for which the script chooses models. */
export const scriptedFormats: readonly string[] = [...new Set(scriptedTools.map(({ formats }) => formats[0]))];
