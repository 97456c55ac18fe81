import { readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Texts } from '#core/web/texts/texts.ts';
import type { ScriptedTool, SetupTool } from './tool.ts';

/** Groups in the order of the page. */
export const groups = ['agents', 'editors', 'libraries'] as const satisfies readonly SetupTool['group'][];

/** Every tool that can be set up, as it is listed. To add one, write its file in tools/: each export there is a tool. */
export const tools: readonly SetupTool[] = (await readTools(join(import.meta.dirname, 'tools'))).toSorted(compare);

async function readTools(folder: string): Promise<SetupTool[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith(extname(import.meta.filename)));
  const modules = files.map(
    (name) => import(pathToFileURL(join(folder, name)).href) as Promise<Record<string, SetupTool>>,
  );
  return (await Promise.all(modules)).flatMap((exported) => Object.values(exported));
}

/** By group, then by `order`, then by name. */
function compare(one: SetupTool, other: SetupTool): number {
  const byGroup = groups.indexOf(one.group) - groups.indexOf(other.group);
  const byOrder = (one.order ?? 100) - (other.order ?? 100);
  return byGroup || byOrder || one.name.localeCompare(other.name, 'en');
}

/** The key of the tool's note. */
export const noteKey = ({ id }: SetupTool): string => `setup.note.${id.replaceAll('-', '_')}`;

/** The texts that a tool brings with it. */
export function textsOf(tool: SetupTool): Texts {
  const { note, texts } = tool;
  const own = (text: string | undefined) => (text === undefined ? {} : { [noteKey(tool)]: text });
  return { en: { ...texts?.en, ...own(note?.en) }, id: { ...texts?.id, ...own(note?.id) } };
}

/** The tools that the scripts set up. */
export const scriptedTools = tools.filter((tool): tool is ScriptedTool => tool.script !== undefined);

/** The formats that their models are chosen for. */
export const scriptedFormats: readonly string[] = [...new Set(scriptedTools.map(({ formats }) => formats[0]))];
