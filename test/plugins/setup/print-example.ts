import { describeTool, type ShownTool } from '../../../plugins/setup/describe-tool.ts';
import type { Reader } from '../../../plugins/setup/reader.ts';
import { renderPowershell, renderShell } from '../../../plugins/setup/script/render-scripts.ts';
import { createScriptData } from '../../../plugins/setup/script/script-data.ts';
import { tools } from '../../../plugins/setup/tools.ts';
import { findValues } from '../../../plugins/setup/values.ts';
import { clis } from '../../tools/clis.ts';
import { modelOf } from '../format/catalog/catalog-fixture.ts';
import { writeSettingsTable, writeTriedTable } from './docs-tables.ts';
import { registry, setupHost } from './fixture.ts';

/** Run by one-row.integration.test.ts in a copy of this repository: prints where the tool `example` is found. */
const host = setupHost([modelOf('large', ['chat'])]);
const data = createScriptData(host, registry)!;
const tool = tools.find(({ id }) => id === 'example')!;
const reader: Reader = { t: (key) => key, system: 'linux', baseUrl: host.service.baseUrl, chosenModel: undefined };
const { parameters, ...cli } = clis.find(({ id }) => id === 'example')!;

export const shown = {
  ids: tools.map(({ id }) => id),
  page: describeTool(tool, findValues(host, registry, 'chat')!, reader) satisfies ShownTool,
  shell: renderShell(data),
  powershell: renderPowershell(data),
  settings: writeSettingsTable(),
  tried: writeTriedTable(),
  cli: { ...cli, words: parameters('Hello', { providerId: 'daypass', model: { name: 'dp/large' } }) },
};
console.log(JSON.stringify(shown));
