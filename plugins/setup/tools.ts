import { join } from 'node:path';
import type { Texts } from '#core/web/texts/texts.ts';
import { readCachedYaml } from './cached-yaml.ts';
import type { ScriptedTool, SetupTool } from './tool.ts';

type ToolRow = Omit<SetupTool, 'id' | 'group' | 'formats'> & Partial<Pick<SetupTool, 'formats'>>;

const rows = readCachedYaml(join(import.meta.dirname, 'tools.yaml')) as Readonly<
  Record<SetupTool['group'], Readonly<Record<string, ToolRow>>>
>;

export const groups = Object.keys(rows) as readonly SetupTool['group'][];

/** To add a tool, add a row to tools.yaml. */
export const tools: readonly SetupTool[] = groups.flatMap((group) =>
  Object.entries(rows[group]).map(([id, row]) => ({ id, group, formats: ['chat'], ...row })),
);

export const createNoteKey = ({ id }: SetupTool): string => `setup.note.${id.replaceAll('-', '_')}`;

export function collectTexts(tool: SetupTool): Texts {
  const { note, texts } = tool;
  const noteTexts = (text: string | undefined) => (text === undefined ? {} : { [createNoteKey(tool)]: text });
  return { en: { ...texts?.en, ...noteTexts(note?.en) }, id: { ...texts?.id, ...noteTexts(note?.id) } };
}

export const scriptedTools = tools.filter((tool): tool is ScriptedTool => tool.script !== undefined);

export const scriptedFormats: readonly string[] = [...new Set(scriptedTools.map(({ formats }) => formats[0]))];
