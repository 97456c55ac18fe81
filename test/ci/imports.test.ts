import { describe, expect, it } from 'vitest';
import {
  describeCycle,
  findDevelopmentImports,
  findFileCycles,
  findFolderCycles,
  findForbidden,
  findOutsideContract,
} from '../../.ci/import-rules.ts';

const forbidden = (file: string, target: string) => findForbidden(new Map([[file, [target]]]));

describe('an import', () => {
  it('may stay on its floor of core', () => {
    expect(forbidden('core/gateway/http/send.ts', 'core/gateway/health/gauge.ts')).toEqual([]);
  });

  it('may go down to any floor below', () => {
    expect(forbidden('core/web/serve.ts', 'core/platform/logger.ts')).toEqual([]);
  });

  it('that goes up a floor fails with the order of floors and what to do', () => {
    expect(forbidden('core/platform/logger.ts', 'core/web/pages/page.ts')).toEqual([
      'core/platform/logger.ts: imports core/web/pages/page.ts, which is a floor above; imports only go down (process > extension > web > business > gateway > config > platform): let a caller above pass it in, or move the part that both need down to platform',
    ]);
  });

  it('of an entry by a floor fails', () => {
    expect(forbidden('core/extension/registry.ts', 'core/index.ts')).toHaveLength(1);
  });

  it('of a floor by an entry is fine', () => {
    expect(forbidden('core/main.ts', 'core/process/command-line.ts')).toEqual([]);
  });

  it.each([
    [
      'core/gateway/host/host.ts',
      'plugins/cache/stage.ts',
      'core/gateway/host/host.ts: core imports plugins/cache/stage.ts',
    ],
    [
      'plugins/log/stage.ts',
      'plugins/cache/stage.ts',
      'plugins/log/stage.ts: a plugin imports another, plugins/cache/stage.ts',
    ],
    ['plugins/log/stage.ts', 'test/support/log.ts', 'plugins/log/stage.ts: a plugin imports test/support/log.ts'],
    ['migrations/0001.ts', 'plugins/log/stage.ts', 'migrations/0001.ts: a migration imports plugins/log/stage.ts'],
  ])('of %s by %s fails', (file, target, sentence) => {
    expect(forbidden(file, target)).toEqual([sentence]);
  });
});

it.each(['core/helpers.ts', 'core/attic/old.ts'])('the file %s fails, because it is on no floor', (file) => {
  expect(findForbidden(new Map([[file, []]]))).toEqual([expect.stringContaining('is on no floor of core')]);
});

const circle = new Map([
  ['plugins/log/journal/write.ts', ['plugins/log/reader/read.ts']],
  ['plugins/log/reader/parse.ts', ['plugins/log/journal/names.ts']],
  ['plugins/log/stage.ts', ['plugins/log/journal/write.ts']],
]);
const cycle = {
  folder: 'plugins/log',
  members: ['journal', 'reader'],
  imports: [
    'plugins/log/reader/parse.ts imports plugins/log/journal/names.ts',
    'plugins/log/journal/write.ts imports plugins/log/reader/read.ts',
  ],
};

describe('folders', () => {
  it('that import each other form a cycle even when no files do', () => {
    expect(findFileCycles(circle)).toEqual([]);
    const [found, ...others] = findFolderCycles(circle);
    expect(others).toEqual([]);
    expect({ ...found, imports: found?.imports.toSorted() }).toEqual({ ...cycle, imports: cycle.imports.toSorted() });
  });

  it('that a file of their parent folder connects form a cycle with it', () => {
    const graph = new Map([
      ['core/web/pages/page.ts', ['core/web/serve.ts']],
      ['core/web/serve.ts', ['core/web/pages/routes.ts']],
    ]);
    expect(findFolderCycles(graph).map(({ members }) => members)).toEqual([['pages', 'serve.ts']]);
  });

  it('that import in one direction form no cycle', () => {
    const graph = new Map([
      ['core/web/live/hub.ts', ['core/web/pages/page.ts', 'core/web/texts/texts.ts']],
      ['core/web/pages/page.ts', ['core/web/texts/texts.ts']],
    ]);
    expect(findFolderCycles(graph)).toEqual([]);
  });

  it('that form a cycle are reported with each import of the cycle and a remedy', () => {
    expect(describeCycle(cycle)).toBe(
      `plugins/log: journal, reader form an import cycle: move what both need into the lower one, or let a caller pass it in\n  ${cycle.imports.join('\n  ')}`,
    );
  });
});

it('modules that import each other fail with their trail', () => {
  const graph = new Map([
    ['core/web/a.ts', ['core/web/b.ts']],
    ['core/web/b.ts', ['core/web/a.ts']],
  ]);
  expect(findFileCycles(graph)).toEqual(['cycle: core/web/a.ts → core/web/b.ts → core/web/a.ts']);
});

const packages = new Set(['openai', '@anthropic-ai/sdk']);
const found = (file: string, text: string) => findDevelopmentImports(file, text, packages);

describe('an import of a development dependency', () => {
  it.each([
    ["import OpenAI from 'openai';\n", 'openai'],
    ["import { type Chat } from 'openai/resources/chat';\n", 'openai'],
    ["/** Comment. */\nimport '@anthropic-ai/sdk/shims';\n", '@anthropic-ai/sdk'],
  ])('by a module of the product fails with what to do: %j', (text, name) => {
    expect(found('plugins/format/wire/chat.ts', text)).toEqual([
      `plugins/format/wire/chat.ts: imports ${name}, a development dependency; import its types only (import type)`,
    ]);
  });

  it('is fine for types only', () => {
    expect(found('plugins/format/wire/chat.ts', "import type { Chat } from 'openai/resources/chat';\n")).toEqual([]);
  });

  it('is fine in a test', () => {
    expect(found('test/e2e/sdk.test.ts', "import OpenAI from 'openai';\n")).toEqual([]);
  });

  it('in an example that a module prints is none of its own', () => {
    const text = "const example = `\nimport OpenAI from 'openai';\n`;\n";
    expect(found('plugins/docs/page.ts', text)).toEqual([]);
  });
});

describe('the contract for plugins', () => {
  const contract = {
    contract: { 'core/platform': ['json.ts'] },
    shared: { 'core/business/settle.ts': ['payments'], 'core/business/gone.ts': ['deleted'] },
  };
  const modules = ['core/platform/json.ts', 'core/business/settle.ts', 'core/business/gone.ts', 'core/platform/own.ts'];
  const check = (file: string, targets: string[]) =>
    findOutsideContract(new Map([...modules.map((name): [string, string[]] => [name, []]), [file, targets]]), contract);

  it('lets any plugin import what is open, and those named what they share with core', () => {
    expect(check('plugins/payments/stage.ts', ['core/platform/json.ts', 'core/business/settle.ts'])).toEqual([]);
  });

  it('refuses what is core’s own', () => {
    expect(check('plugins/log/stage.ts', ['core/platform/own.ts'])).toEqual([
      "plugins/log/stage.ts: core/platform/own.ts is core's own; use what .ci/plugin-contract.yaml lists, or list it there",
    ]);
  });

  it('refuses what another plugin shares with core', () => {
    expect(check('plugins/log/stage.ts', ['core/business/settle.ts'])).toHaveLength(1);
  });

  it('has no row that its plugin does not need', () => {
    expect(check('plugins/payments/stage.ts', ['core/platform/json.ts'])).toEqual([
      'core/business/settle.ts: payments no longer imports it; take it out of .ci/plugin-contract.yaml',
    ]);
  });

  it('has no module that does not exist', () => {
    const [mistake] = findOutsideContract(new Map(), { contract: { 'core/web': ['x.ts'] }, shared: {} });
    expect(mistake).toBe('core/web/x.ts: is in .ci/plugin-contract.yaml, but does not exist');
  });

  it('keeps the rows of a plugin that was deleted', () => {
    expect(check('plugins/log/stage.ts', [])).toEqual([]);
  });
});
