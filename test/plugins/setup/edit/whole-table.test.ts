import { describe, expect, it } from 'vitest';
import type { FileAction } from '../../../../plugins/setup/script/describe-actions.ts';
import { createScriptData } from '../../../../plugins/setup/script/script-data.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from '../fixture.ts';
import { callFormat, loadFormat } from './formats.ts';
import type { EditCall, EditFormat, EditResult } from './formats.ts';
import { filesByFormat, filesByPath } from './tool-files.ts';

/** A settings file that the script edits for a tool, with sample values in it. */
interface ToolFile {
  readonly tool: string;
  readonly path: string;
  readonly format: EditFormat;
  readonly wanted: string;
  readonly options: EditCall['options'];
}

const samples: Readonly<Record<string, string>> = {
  KEY: `dp_${'k'.repeat(32)}`,
  MODEL: 'dp/demo',
  SMALL: 'dp/small',
  CONTEXT: '200000',
  OUTPUT: '32000',
  SMALL_CONTEXT: '128000',
  SMALL_OUTPUT: '8000',
};

const limits = { maxInputTokens: 200_000, maxOutputTokens: 32_000 };
const models = [modelOf('a', ['chat'], limits), modelOf('b', ['chat'])];
const tools = createScriptData(setupHost(models), registry)?.tools ?? [];
const toolFiles: ToolFile[] = tools.flatMap(({ id, variants }) =>
  variants.flatMap(({ actions }) => actions.filter(isEdited).map((action) => describeFile(id, action))),
);

type EditedFile = FileAction & { readonly format: EditFormat };

function isEdited(action: { readonly kind: string; readonly format?: string }): action is EditedFile {
  return action.kind === 'file' && ['json', 'toml', 'yaml'].includes(action.format ?? '');
}

function describeFile(tool: string, { path, format, text, identity, at }: EditedFile): ToolFile {
  const wanted = `${text.replaceAll(/@([A-Z_]+)@/g, (whole, name: string) => samples[name] ?? whole)}\n`;
  return { tool, path, format, wanted, options: { ...(identity && { identity }), ...(at && { at }) } };
}

function existingFiles({ path, format }: ToolFile): (string | null)[] {
  const own = Object.entries(filesByPath).flatMap(([end, files]) => (path.endsWith(end) ? files : []));
  return [null, '', ...filesByFormat[format], ...own];
}

it('the table has configurations for every file that other programs write too', () => {
  const unused = Object.keys(filesByPath).filter((end) => !toolFiles.some(({ path }) => path.endsWith(end)));
  expect(unused).toEqual([]);
});

const call = (calls: readonly EditCall[]): Promise<EditResult[]> =>
  Promise.all(calls.map(async (one) => callFormat(await loadFormat(one.format), one)));

describe('every settings file of every tool', () => {
  const cases = toolFiles.flatMap((file) => existingFiles(file).map((before) => ({ ...file, before })));

  it('every settings file of every tool has the settings, does not change in a second run, and comes back byte for byte', async () => {
    expect(cases.length).toBeGreaterThan(150);
    const merged = await call(cases.map((one) => ({ ...one, name: 'merge', texts: [one.before, one.wanted] })));
    const texts = merged.map((result) => ('value' in result ? String(result.value) : result.refusal));

    const all = cases.map((one, index) => ({ ...one, text: texts[index] ?? '' }));
    const again = await call(all.map((one) => ({ ...one, name: 'merge', texts: [one.text, one.wanted] })));
    const missing = await call(all.map((one) => ({ ...one, name: 'missing', texts: [one.text, one.wanted] })));
    const undone = await call(
      all.map((one) => ({ ...one, name: 'remove', texts: [one.text, one.wanted, one.before] })),
    );

    for (const [index, { tool, path, before, text }] of all.entries()) {
      const results = { again: again[index], missing: missing[index], undone: undone[index] };
      const expected = { again: { value: text }, missing: { value: [] }, undone: { value: [before ?? '', []] } };
      expect({ tool, path, before, ...results }).toEqual({ tool, path, before, ...expected });
    }
  });

  it('every settings file of every tool comes back apart from what was added at its end', async () => {
    const merged = await call(cases.map((one) => ({ ...one, name: 'merge', texts: [one.before, one.wanted] })));
    const calls = cases.map((one, index): EditCall => {
      const result = merged[index];
      const text = result !== undefined && 'value' in result ? String(result.value) : '';
      return { ...one, name: 'remove', texts: [`${text}\n\n`, one.wanted, one.before] };
    });

    for (const [index, result] of (await call(calls)).entries()) {
      const { tool, before } = cases[index]!;
      const [text, left] = 'value' in result ? (result.value as [string, string[]]) : [result.refusal, []];
      expect({ tool, text: text.trim(), left }).toEqual({ tool, text: (before ?? '').trim(), left: [] });
    }
  });
});
