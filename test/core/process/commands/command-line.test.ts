import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EndedCommand, runCommand } from '../../../support/command-line.ts';

// As a process, with plugins, pipes and exit codes: test/core/process/commands.integration.test.ts.

const valid = `pipeline: [auth, plan, format, upstream, log]
upstreams:
  one: { format: chat, base_url: "http://one.test/v1", api_keys: [k] }
  off: { vendor: openai }
models: { test: { routes: [one/a, off/b] }, gone: { routes: [off/b] } }
`;

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-command-line-'));
  file = join(folder, 'gateway.yaml');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs `gateway` in this process. Its output names files as if it ran in the test's folder. */
async function run(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<EndedCommand> {
  const { code, out, errors } = await runCommand(words, environment);
  return { code, out: out.replaceAll(`${folder}/`, ''), errors: errors.replaceAll(`${folder}/`, '') };
}

/** Runs a command with a gateway.yaml of this content. */
async function runWith(yaml: string, ...words: readonly string[]): Promise<EndedCommand> {
  await writeFile(file, yaml);
  return run(['--config', file, ...words]);
}

it('daypass init creates a whole folder also in production, as in the image, where the demos of gateway.yaml are refused', async () => {
  const environment = { NODE_ENV: 'production', BASE_URL: 'https://ai.example.com' };
  const { code, out, errors } = await run(['init', join(folder, 'new')], environment);
  expect({ code, out, errors }).toMatchObject({ code: 0, out: expect.stringMatching(/the folder pages/), errors: '' });
  expect(await readFile(join(folder, 'new', 'pages', 'terms.en.md'), 'utf8')).toContain('draft: true');
});

describe('help', () => {
  it.each([
    [['help', 'strat'], "error: unknown command 'strat'\n(Did you mean start?)\n(see --help)\n"],
    [['strat', '--help'], "error: unknown command 'strat'\n(Did you mean start?)\n(see --help)\n"],
    [['help', 'account', 'blok'], "error: unknown command 'blok'\n(Did you mean block?)\n(see --help)\n"],
    [['account', 'help', 'blok'], "error: unknown command 'blok'\n(Did you mean block?)\n(see --help)\n"],
    [['account', 'blok', '-h'], "error: unknown command 'blok'\n(Did you mean block?)\n(see --help)\n"],
  ])('about a command that does not exist names the nearest one: %j', async (words, errors) => {
    expect(await run(words)).toEqual({ code: 2, out: '', errors });
  });

  it.each([
    [['help'], /^Usage: daypass \[options\] \[command\]\n/],
    [['help', 'start'], /^Usage: daypass start /],
    [['help', 'account', 'block'], /^Usage: daypass account block /],
    [['account', 'help', 'block'], /^Usage: daypass account block /],
    [['account', 'block', 'someone', '--help'], /^Usage: daypass account block /],
  ])('is about the command that is named: %j', async (words, out) => {
    expect(await run(words)).toEqual({ code: 0, out: expect.stringMatching(out), errors: '' });
  });
});

describe('daypass check', () => {
  it('prints stages, upstreams, models and what is off', async () => {
    const { out } = await runWith(valid, 'check');
    const expected = [
      /^gateway\.yaml is valid\n/,
      /^pipeline\n {2}auth\b.*\n {2}plan\b.*\n {2}format\b.*\n {2}upstream {5}.*first_byte_timeout: \d+.*\n {2}log\b/m,
      /^ {2}one +1 key +http:\/\/one\.test\/v1 +chat$/m,
      /^ {2}test +one\/a$/m,
      /^note: upstream off is off: it has no API key; set one, or remove the upstream$/m,
      /^note: model gone is not offered: all of its upstreams are off; give it a route on another one, or remove the model$/m,
    ];
    expect(expected.filter((pattern) => !pattern.test(out))).toEqual([]);
  });

  it('says which models tools are set up with, and why not with one that is named', async () => {
    const { out } = await runWith(`${valid}setup: { model: gone }\n`, 'check');
    expect(out).toMatch(/^ {2}setup +dp\/test$/m);
    expect(out).toMatch(/^note: setup\.model "gone" is not used: all upstreams of the model are off$/m);
  });

  it('prints how people sign in and pay, and warns in production if that is impossible', async () => {
    const providers = 'sign_in: { google: { client_id: a, client_secret: b } }\n';
    expect((await runWith(valid, 'check')).out).toMatch(
      /^service\n(?: .*\n)* {2}sign-in +on this machine without a password$/m,
    );
    const { out } = await runWith(valid + providers, 'check');
    expect(out).toMatch(/^ {2}sign-in +google$/m);
    expect(out).toMatch(/^ {2}payments +sandbox, which moves no money$/m);
    expect(out).not.toContain('nobody can sign in');
    await writeFile(file, valid);
    const { out: inProduction } = await run(['--config', file, 'check'], { NODE_ENV: 'production' });
    expect(inProduction).toMatch(/^ {2}sign-in +nobody$/m);
    expect(inProduction).toMatch(/^ {2}payments +none$/m);
    expect(inProduction).toMatch(/^note: nobody can sign in: /m);
  });

  it('warns about a valid pipeline that is probably a mistake', async () => {
    const yaml = valid.replace('[auth, plan, format, upstream, log]', '[format, { upstream: false }, log]');
    const { code, out } = await runWith(yaml, 'check');
    expect([code, out.match(/^note: (?:anyone|model calls) .*$/gm)]).toEqual([
      0,
      [
        'note: anyone can call without a key: the pipeline has no stage that authenticates callers, such as auth',
        'note: model calls are refused: the pipeline has no stage that sends them to an upstream, such as upstream',
      ],
    ]);
  });

  it('warns about keys that are served without a paid period', async () => {
    expect((await runWith(valid.replace(' plan,', ''), 'check')).out).toMatch(
      /^note: every valid key is served, with or without a paid period: .* such as plan$/m,
    );
    expect((await runWith(valid, 'check')).out).not.toContain('paid period');
  });

  it.each([
    ['cache: false', 'gateway.yaml:1:1 cache: is a stage; write it in the list "pipeline"\n'],
    ['plan: []', 'gateway.yaml:1:1 plan: is not a known key; did you mean "plans"?\n'],
    ['operators: [me]', 'gateway.yaml:1:13 operators[0]: is "me"; expected: An e-mail address.\n'],
  ])('explains %s', async (line, wrong) => {
    const { errors } = await runWith(`${line}\n${valid}`, 'check');
    expect(errors).toBe(wrong);
  });

  it.each([
    ['upstream', 'sending model calls to an upstream'],
    ['log', 'recording requests'],
  ])('fails without the stage %s', async (stage, work) => {
    const { code, errors } = await runWith(valid.replace(`, ${stage}`, ''), 'check');
    expect([code, errors]).toEqual([
      78,
      `gateway.yaml:1:1 pipeline: has no stage for ${work}; add ${stage} to the list, or "${stage}: false" to do without it\n`,
    ]);
  });

  it('prints hedging and resuming of a model', async () => {
    const yaml = valid.replace('[one/a, off/b]', '[one/a, one/b], hedge_after: 5, resume: true');
    expect((await runWith(yaml, 'check')).out).toMatch(/^ {2}test +one\/a → one\/b \(hedge after 5 s, resume\)$/m);
  });

  it('never prints a key', async () => {
    await writeFile(file, valid.replace('[k]', '["${KEY}"]'));
    const { code, out } = await run(['--config', file, 'check'], { KEY: 'sk-secret' });
    expect([code, out]).toEqual([0, expect.not.stringContaining('sk-secret')]);
  });

  it('explains how to pass another file when gateway.yaml is missing', async () => {
    expect(await run(['--config', file, 'check'])).toEqual({
      code: 78,
      out: '',
      errors: 'gateway.yaml: does not exist; pass another file with --config FILE\n',
    });
  });

  it('takes another file from GATEWAY_CONFIG', async () => {
    const other = join(folder, 'other.yaml');
    await writeFile(other, valid);
    expect((await run(['check'], { GATEWAY_CONFIG: other })).out).toMatch(/^other\.yaml is valid\n/);
  });
});

describe('daypass schema', () => {
  it('writes the schema next to gateway.yaml', async () => {
    const { code, out } = await runWith(valid, 'schema');
    const schema = JSON.parse(await readFile(join(folder, 'gateway.schema.json'), 'utf8')) as object;
    expect([code, out, schema]).toEqual([
      0,
      'gateway.schema.json written\n',
      expect.objectContaining({ title: 'gateway.yaml' }),
    ]);
  });

  it('prints it on request, without a gateway.yaml', async () => {
    const { out } = await run(['--config', file, 'schema', '--output', '-']);
    expect(JSON.parse(out)).toHaveProperty('properties.pipeline');
  });

  it('writes it even for a gateway.yaml with mistakes', async () => {
    expect((await runWith('pipeline: [auht]', 'schema')).code).toBe(0);
  });

  it('reports that the output folder does not exist', async () => {
    expect(await runWith(valid, 'schema', '-o', join(folder, 'nowhere/x'))).toEqual({
      code: 1,
      out: '',
      errors: 'nowhere/x cannot be written: its folder does not exist; choose another file with --output FILE\n',
    });
  });
});

it.each([
  ['a command that does not exist', ['chekc']],
  ['an option that does not exist', ['check', '--fast']],
])('gateway ends with 2 for %s', async (_name, words) => {
  expect((await run(words)).code).toBe(2);
});

/** A plugin that defines a command like this. */
const points = (define: string) => `export const plugin = {
  name: 'points',
  register(server) {
    server.gateway.command({ name: 'points', define(parser, context) { ${define} } });
  },
};`;

describe('commands of third-party plugins', () => {
  const withPlugin = `${valid}plugins: [./points.ts]\n`;
  const works = "parser.description('prints points').option('--json').action(() => context.print('three'));";

  it('run, wherever --config stands', async () => {
    await writeFile(join(folder, 'points.ts'), points(works));
    expect(await runWith(withPlugin, 'points')).toEqual({ code: 0, out: 'three\n', errors: '' });
    expect(await run(['points', '--json', '--config', file])).toEqual({ code: 0, out: 'three\n', errors: '' });
    expect((await run(['--config', file, '--help'])).out).toMatch(/^ {2}points \[options\] +prints points$/m);
  });

  it('are named with their mistake when a plugin cannot be loaded or they cannot be defined, and own commands run', async () => {
    await writeFile(join(folder, 'points.ts'), points("parser.descripton('prints points');"));
    const { code, errors } = await runWith(withPlugin, 'points');
    expect([code, errors]).toEqual([
      2,
      `error: unknown command 'points'
(see --help)
command "points" cannot be defined: parser.descripton is not a function (points.ts:4)
`,
    ]);
    await writeFile(join(folder, 'broken.ts'), 'throw new Error("no");');
    expect((await runWith(`${valid}plugins: [./broken.ts]\n`, 'points')).errors).toContain(
      'plugins[0]: cannot be loaded: no (broken.ts:1)',
    );
    expect((await run(['--config', file, 'key', '--help'])).code).toBe(0);
  });

  it('are missing without a gateway.yaml that can be read', async () => {
    expect((await run(['--config', file, 'points'])).code).toBe(2);
    expect((await runWith('pipeline: [auth\n', 'points')).code).toBe(2);
    expect((await run(['--config', file, 'key', '--help'])).code).toBe(0);
  });
});
