import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { exampleFile, listPluginsOfSections, ownRegistry, renderPages, sectionsFile } from '../../.ci/configuration.ts';
import { absentCapabilities } from './absent.ts';

const environment = {
  OPERATOR_TOKEN: 'a-token-of-the-operator',
  OPENAI: 'sk-1',
  ANTHROPIC_API_KEY: 'sk-2',
  OPENROUTER_API_KEY: 'sk-3',
  MIDTRANS_SERVER_KEY: 'Mid-server-1',
  COLLECTOR_TOKEN: 'token',
  GOOGLE_CLIENT_ID: 'id',
  GOOGLE_CLIENT_SECRET: 'secret',
  OKTA_ID: 'id',
  OKTA_SECRET: 'secret',
  SMTP_PASSWORD: 'secret',
  ALERT_SECRET: 'a-secret-of-24-characters-or-more',
};

const isWhole = absentCapabilities.length === 0;
const root = join(import.meta.dirname, '..', '..');

it.runIf(isWhole)(
  'the pages of docs/configuration are what the schemas say; `npm run docs:configuration` writes them',
  async () => {
    const pages = renderPages(await ownRegistry());
    expect([...pages.keys()].toSorted()).toEqual(globSync('docs/configuration{,/*}.md', { cwd: root }).toSorted());
    for (const [path, text] of pages) expect(readFileSync(join(root, path), 'utf8'), path).toBe(text);
  },
);

it.runIf(isWhole)(
  'the list of plugins of sections is what they register; `npm run docs:configuration` writes it',
  async () => {
    expect(readFileSync(join(root, sectionsFile), 'utf8')).toBe(listPluginsOfSections(await ownRegistry()));
  },
);

it.runIf(isWhole)('the example of docs/configuration is valid, and has every section', async () => {
  const registry = await ownRegistry();
  const text = readFileSync(exampleFile, 'utf8').replace('file:/run/secrets/openai', 'OPENAI');
  const document = parseDocument(text, 'gateway.yaml', environment);
  expect(() => validate(document, registry)).not.toThrow();
  const missing = [...registry.sections.keys()].filter((name) => !document.contains([name]));
  expect(missing).toEqual([]);
});
