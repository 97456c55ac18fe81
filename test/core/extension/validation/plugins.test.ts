import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { type Assembly, assemble } from '#core/extension/assembly.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { silentLog } from '../../../support/database.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-plugins-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const stageSource = (name: string) =>
  `export const stage = { name: '${name}', description: 'Ours.', options: { type: 'object' }, create: () => ({}) };`;
const textOf = (file: string, stages = '') =>
  `plugins: [./${file}]\npipeline: [auth, upstream: false, log: false${stages}]\nupstreams: {}\nmodels: {}`;
const pluginSource = `export const plugin = {
  name: 'ours',
  register(server) {
    server.gateway.section({ name: 'ours', schema: { type: 'object', default: {}, properties: { depth: { type: 'integer', default: 3 } } } });
  },
};`;

async function write(path: string, source: string): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, source);
}

const documentOf = (text: string) => parseDocument(text, join(folder, 'gateway.yaml'), { SECRET: 'sk-secret' });

function load(text: string): Promise<Assembly> {
  return assemble(documentOf(text), silentLog, () => {
    throw new Error('nothing is served here');
  });
}

/** The mistakes that a list of plugins leads to, with the test's folder taken out. */
async function mistakesOf(text: string): Promise<string> {
  const { registry } = await load(text);
  return new ConfigError(registry.loadMistakes).message.replaceAll(folder, '');
}

/** Everything that is wrong with a gateway.yaml, plugins included. */
async function allMistakesOf(text: string): Promise<string[]> {
  const { registry } = await load(text);
  try {
    validate(documentOf(text), registry);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replaceAll(folder, '').split('\n');
    throw error;
  }
}

const hint = 'write a path that begins with ./ or the name of an installed package';
const faulty = 'fix the plugin, or remove it from the list';

describe('a third-party plugin', () => {
  it('is found next to gateway.yaml', async () => {
    await write('ours.ts', stageSource('ours'));
    const { registry } = await load('plugins: [./ours.ts]');
    expect(registry.stages.has('ours')).toBe(true);
  });

  it('is found by its absolute path', async () => {
    await write('ours.ts', stageSource('ours'));
    const { registry } = await load(`plugins: ["${join(folder, 'ours.ts')}"]`);
    expect(registry.stages.has('ours')).toBe(true);
  });

  it('may add a section with defaults', async () => {
    await write('ours.ts', pluginSource);
    const text =
      'plugins: [./ours.ts]\npipeline: [auth, upstream: false, log: false]\nupstreams: {}\nmodels: {}\nours: {}';
    const { registry } = await load(text);
    const config = validate(documentOf(text), registry);
    expect(config.get(registry.sections.get('ours') as never)).toEqual({ depth: 3 });
  });

  it('may add several stages', async () => {
    await write('ours.ts', `${stageSource('one')}\n${stageSource('two').replace('const stage', 'const other')}`);
    const { registry } = await load('plugins: [./ours.ts]');
    expect([registry.stages.has('one'), registry.stages.has('two')]).toEqual([true, true]);
  });

  it('may export both stages and a plugin, which may register them itself', async () => {
    await write('ours.ts', `${stageSource('ours')}\n${pluginSource}`);
    await write(
      'theirs.ts',
      `${stageSource('theirs')}\nexport const plugin = { name: 'theirs', register: (server) => server.gateway.stage(stage) };`,
    );
    const { registry } = await load('plugins: [./ours.ts, ./theirs.ts]');
    expect([registry.loadMistakes, registry.stages.has('ours'), registry.stages.has('theirs')]).toEqual([
      [],
      true,
      true,
    ]);
    expect(registry.sections.has('ours')).toBe(true);
  });

  it.each([
    ['stage({ name: "a", options: {} })', 'stage "a" has no function "create"'],
    ...['"0 * * * *"', '{ every: -1 }', '{ every: "1h" }', '{ pattern: "hourly" }', 'null'].map((schedule) => [
      `job({ name: "a", run() {}, schedule: ${schedule} })`,
      'job "a": `schedule` must be { every: seconds } or { pattern: "17 3 * * *" }',
    ]),
  ])('is refused when it registers %s', async (call, wrong) => {
    await write('ours.ts', `export const plugin = { name: 'ours', register({ gateway }) { gateway.${call}; } };`);
    expect(await mistakesOf('plugins: [./ours.ts]')).toBe(
      `gateway.yaml:1:11 plugins[0]: cannot be loaded: ${wrong} (/ours.ts:1); ${faulty}`,
    );
  });

  it('has its section named when the schema is not valid', async () => {
    await write('ours.ts', pluginSource.replace("type: 'integer'", "type: 'intger'"));
    const text = 'plugins: [./ours.ts]\npipeline: [auth, upstream: false, log: false]\nupstreams: {}\nmodels: {}';
    expect(await allMistakesOf(text)).toEqual([
      expect.stringMatching(
        /^gateway\.yaml:1:1 ours: has an invalid schema: .*; fix the plugin ours, which registers it$/,
      ),
    ]);
  });

  it.each([
    ['anyOf: []', 'properties/depth/anyOf must NOT have fewer than 1 items'],
    ["type: 'string', minLength: -1", 'properties/depth/minLength must be >= 0'],
    ["enum: 'abc'", 'properties/depth/enum must be array'],
  ])('is named with the place in its schema when it has written %s there', async (written, wrong) => {
    await write('ours.ts', pluginSource.replace("type: 'integer', default: 3", written));
    expect(await allMistakesOf(textOf('ours.ts'))).toEqual([
      `gateway.yaml:1:1 ours: has an invalid schema: ${wrong}; fix the plugin ours, which registers it`,
    ]);
    await write(
      'theirs.ts',
      stageSource('theirs').replace(
        /options: \{[^}]*\}/,
        `options: { type: 'object', properties: { depth: { ${written} } } }`,
      ),
    );
    expect(await allMistakesOf(textOf('theirs.ts', ', theirs'))).toEqual([
      `gateway.yaml:2:47 pipeline[3]: has an invalid options schema: ${wrong}; fix the stage theirs`,
    ]);
  });

  it.each(['https://json-schema.org/draft/2020-12/schema', 'https://json-schema.org/draft-07/schema#'])(
    'may have a schema that names the dialect %s, as libraries write it',
    async (dialect) => {
      await write('ours.ts', pluginSource.replace('schema: {', `schema: { $schema: '${dialect}',`));
      expect(await allMistakesOf(textOf('ours.ts'))).toEqual([]);
    },
  );

  it('has its stages suggested when one is misspelled', async () => {
    await write('ours.ts', stageSource('moderation'));
    const text = 'plugins: [./ours.ts]\npipeline: [moderaton]\nupstreams: {}\nmodels: {}';
    const { registry } = await load(text);
    expect(() => validate(documentOf(text), registry)).toThrow('did you mean "moderation"?');
  });

  it('is refused when there is no such file', async () => {
    expect(await mistakesOf('plugins: [./nowhere.ts]')).toBe(
      `gateway.yaml:1:11 plugins[0]: cannot be loaded: file /nowhere.ts not found; ${hint}`,
    );
  });

  it('is refused when there is no such package', async () => {
    expect(await mistakesOf('plugins:\n  - daypass-nowhere')).toMatch(
      /^gateway\.yaml:2:5 plugins\[0\]: cannot be loaded: .*daypass-nowhere.*; write a path/,
    );
  });

  it.each(['${SECRET}', './${SECRET}.ts', '@ours/${SECRET}'])(
    'is refused without what its variable stands for when there is no %s',
    async (specifier) => {
      const line = await mistakesOf(`plugins: ["${specifier}"]`);
      expect([line.includes('${SECRET}'), line]).toEqual([true, expect.not.stringContaining('sk-secret')]);
    },
  );

  it('is refused when one of its dependencies is not installed', async () => {
    await write('ours.ts', "import 'daypass-nowhere';");
    expect(await mistakesOf('plugins: [./ours.ts]')).toMatch(/.*daypass-nowhere/);
  });

  it('is refused when its endpoint is outside of the API', async () => {
    const endpoint = `{ name: 'ours', method: 'GET', path: '/ours', isMetered: false, answer: () => undefined }`;
    const register = `register: (server) => server.gateway.endpoint(${endpoint})`;
    await write('ours.ts', `export const plugin = { name: 'ours', ${register} };`);
    expect(await mistakesOf('plugins: [./ours.ts]')).toContain(
      'cannot be loaded: endpoint GET /ours: the path must begin with /v1/ or /v1beta/',
    );
  });

  it('is refused when `register` does not finish', async () => {
    await write('ours.ts', "export const plugin = { name: 'ours', register: () => new Promise(() => {}) };");
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const reported: string[] = [];
      void mistakesOf('plugins: [./ours.ts]').then((line) => reported.push(line));
      await vi.waitUntil(() => vi.advanceTimersByTimeAsync(1_000).then(() => reported.length > 0), { timeout: 20_000 });
      expect(reported[0]).toBe(
        `gateway.yaml:1:11 plugins[0]: cannot be loaded: \`register\` has not finished after 10 s; ${faulty}`,
      );
    } finally {
      vi.useRealTimers();
    }
  });

  it('is refused if it exports neither stages nor a plugin', async () => {
    await write('ours.ts', 'export const answer = 42; export const plugin = {};');
    expect(await mistakesOf('plugins: [./ours.ts]')).toBe(
      `gateway.yaml:1:11 plugins[0]: cannot be loaded: exports neither a hapi plugin named "plugin" nor a stage; ${faulty}`,
    );
  });

  it('is refused when it throws while loading', async () => {
    await write('ours.ts', "throw new Error('no licence');");
    expect(await mistakesOf('plugins: [./ours.ts]')).toBe(
      `gateway.yaml:1:11 plugins[0]: cannot be loaded: no licence (/ours.ts:1); ${faulty}`,
    );
  });

  it('is refused when the options of its stage are not a valid schema', async () => {
    await write('ours.ts', stageSource('ours').replace("'object'", "'objekt'"));
    const assembly = await load('plugins: [./ours.ts]');
    expect(() => validate(documentOf('plugins: [./ours.ts]\npipeline: [ours]'), assembly.registry)).toThrow(
      /gateway\.yaml:2:12 pipeline\[0\]: has an invalid options schema: .*; fix the stage ours/,
    );
  });

  it('is refused when its stage exists already', async () => {
    await write('ours.ts', stageSource('auth'));
    expect(await mistakesOf('plugins: [./ours.ts]')).toBe(
      `gateway.yaml:1:11 plugins[0]: cannot be loaded: stage "auth" is registered twice; ${faulty}`,
    );
  });

  it('that is missing hides no other mistake', async () => {
    const text = `plugins: [./nowhere.ts, "${'${NOBODY}'}", ./neither.ts]
listen: { port: 70000 }
pipeline: [auht]
upstreams: {}
modles: {}`;
    expect(await allMistakesOf(text)).toEqual([
      `gateway.yaml:1:11 plugins[0]: cannot be loaded: file /nowhere.ts not found; ${hint}`,
      'gateway.yaml:1:25 plugins[1]: the variable NOBODY is not set; set it, or give it a default: ${NOBODY:-…}',
      `gateway.yaml:1:38 plugins[2]: cannot be loaded: file /neither.ts not found; ${hint}`,
      'gateway.yaml:2:17 listen.port: is 70000; must be at most 65535',
      'gateway.yaml:3:12 pipeline[0]: names the stage "auht", which does not exist; did you mean "auth"?',
      'gateway.yaml:5:1 modles: is not a known key; did you mean "models"?',
    ]);
  });

  it('that could not be loaded causes no errors about its stages, sections and vendors', async () => {
    const text = `plugins: [./nowhere.ts]
pipeline: [auth, moderation, plan, logs, log]
upstreams: { one: { vendor: ours } }
models: { test: { routes: [one/a] } }
moderation: { words: 5 }`;
    expect(await allMistakesOf(text)).toEqual([
      `gateway.yaml:1:11 plugins[0]: cannot be loaded: file /nowhere.ts not found; ${hint}`,
    ]);
  });
});
