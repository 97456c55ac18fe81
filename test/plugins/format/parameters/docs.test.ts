import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { SettingName } from '../../../../plugins/format/canonical/settings.ts';
import type { ParameterRules } from '../../../../plugins/format/formats/contract/parameters.ts';
import { ollamaParameters } from '../../../../plugins/format/formats/ollama/encode-request.ts';
import { conversational } from '../../../support/formats.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/api.md'), 'utf8');

const rules: Readonly<Record<string, ParameterRules>> = {
  ...Object.fromEntries(Object.values(conversational).map(({ name, client }) => [name, client.parameters])),
  ollama: ollamaParameters,
};

/** The parameters of a format for a setting, those first that its upstreams get. */
function cell(format: ParameterRules, place: SettingName): string {
  const of = format.settings.filter(({ row }) => row.to === place);
  const shown = of.map(({ name, rule: { schema }, row }) => {
    const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
    const bounds = maximum === undefined || maximum > 1e8 ? '' : `, ${minimum} to ${maximum}`;
    return `\`${name}\`${bounds}${row.writtenBy === 'none' ? ' (1)' : ''}`;
  });
  return shown.length === 0 ? '–' : shown.join('; ');
}

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

it('api.md lists the parameters that all formats share, as the rows of the formats have them', () => {
  const places = [...new Set(Object.values(rules).flatMap((format) => format.settings.map(({ row }) => row.to)))];
  const lines = places.map((place = 'stop') => line(Object.values(rules).map((format) => cell(format, place))));
  const table = [line(['Chat', 'Responses', 'Messages', 'Gemini', 'Ollama']), '|---|---|---|---|---|', ...lines];
  expect(page).toContain(`\n${table.join('\n')}\n`);
});
