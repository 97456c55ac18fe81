import { once } from 'node:events';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseDocument } from '#core/config/file/document.ts';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import { assemble } from '#core/extension/assembly.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { Gateway } from '#core/process/app.ts';
import { startAnsweringUpstream } from '../support/answering-upstream.ts';
import { silentLog } from '../support/database.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, yamlFor } from '../support/gateway.ts';
import { readBody } from '../support/read-body.ts';

const root = resolve(import.meta.dirname, '..', '..');

// Where the log or the end matters, the gateway is a process, which loads plugins as an operator's does.
vi.setConfig({ testTimeout: 180_000 });

let upstream: Awaited<ReturnType<typeof startAnsweringUpstream>>;
let home: GatewayHome;
beforeAll(async () => {
  upstream = await startAnsweringUpstream();
  home = await createGatewayHome('');
  await mkdir(join(home.folder, 'stages'));
  await copyFile(join(root, 'docs', 'examples', 'stopwatch.ts'), join(home.folder, 'stages', 'stopwatch.ts'));
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Writes the gateway.yaml of a gateway with one plugin, whose stage follows auth. */
async function writeWith(plugin: string, stage: string): Promise<void> {
  const yaml = yamlFor(upstream.baseUrl).replace('- auth\n', `- auth\n  - ${stage}\n`);
  await home.write(`plugins: ["${plugin}"]\n${yaml}`);
}

async function startWith(plugin: string, stage: string): Promise<GatewayProcess> {
  await writeWith(plugin, stage);
  return home.start();
}

/** Starts the gateway in this process, which takes a tenth. */
function startHere(environment: Record<string, string> = {}): Promise<Gateway> {
  const variables = { DATABASE_URL: home.databaseUrl, ...environment };
  return Gateway.start({ file: home.file, environment: variables, log: silentLog });
}

async function ask(url: string, key = home.key, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'test', messages: [{ role: 'user', content: 'hi' }] }),
  });
}

/** The expected status of a gateway that opens at 23:00 UTC. */
const statusAt = (time: Date) => (time.getUTCHours() >= 23 ? 200 : 403);

describe('docs/examples/stopwatch.ts, copied next to gateway.yaml', () => {
  const file = './stages/stopwatch.ts';

  it('runs enter, leave and done for every exchange', async () => {
    await using gateway = await startWith(file, 'stopwatch: { slow_after: 0 }');
    const response = await ask(gateway.url);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-elapsed')).toMatch(/^\d+ms$/);
    await response.text();
    expect((await ask(gateway.url, 'dp-unknown')).status).toBe(401);
    expect(await gateway.end('SIGTERM')).toBe(0);
    expect(gateway.output().match(/req_\w+ was slow/g)).toHaveLength(1);
    expect(gateway.output()).toContain('2 slow exchanges');
    expect(gateway.output()).not.toContain('failed in done');
  });

  it('refuses requests outside opening hours in the client’s format', async () => {
    await writeWith(file, 'stopwatch: { opens_at: 23 }');
    const gateway = await startHere();
    // The hour may change while the request is served.
    const before = statusAt(new Date());
    const response = await ask(gateway.url);
    const body: unknown = await response.json();
    await gateway.stop(AbortSignal.abort());
    expect([before, statusAt(new Date())]).toContain(response.status);
    if (response.status === 403) expect(body).toMatchObject({ error: { message: 'The gateway opens at 23:00 UTC.' } });
  });

  it('has its options validated like built-in stages', async () => {
    await writeWith(file, 'stopwatch: { slow_afer: 2 }');
    await expect(startHere()).rejects.toThrow(/slow_afer.*slow_after/);
  });

  it('is refused before the stage whose fact it reads', async () => {
    const yaml = yamlFor(upstream.baseUrl).replace('- auth\n', '- stopwatch\n  - auth\n');
    await home.write(`plugins: ["${file}"]\n${yaml}`);
    await expect(startHere()).rejects.toThrow(/stopwatch.*principal|principal.*stopwatch/);
  });
});

/** Installs a package next to gateway.yaml, as npm does. */
async function install(name: string, description: object, files: Record<string, string>): Promise<void> {
  const folder = join(home.folder, 'node_modules', name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...description }));
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
}

/** A stage that adds the header `x-NAME` to answers. */
const stampOf = (name: string) => `
import { defineStage } from 'daypass';
export const stamp = defineStage({
  name: '${name}',
  description: 'Stamps answers.',
  options: { type: 'object', properties: { text: { type: 'string', default: 'seen' } }, additionalProperties: false },
  create: ({ text }) => ({
    leave: (exchange, reply) => ({ ...reply, headers: { ...reply.headers, 'x-${name}': text } }),
  }),
});
`;

const greeter = `
export const plugin = {
  name: 'greeter',
  register(server) {
    server.gateway.endpoint({
      name: 'greeting', method: 'GET', path: '/v1/greeting', isMetered: false,
      answer: () => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: 'welcome' }),
    });
    server.gateway.stage({
      name: 'greeter', description: 'Greets.', options: { type: 'object', additionalProperties: false },
      create: () => ({ enter: (exchange) => void server.host().log.info('greeted ' + exchange.path) }),
    });
  },
};`;

describe('npm packages, installed next to gateway.yaml,', () => {
  const stamps = [
    ['stamp-main', 'a main file', { type: 'module', main: 'index.js' }],
    ['stamp-import', 'an entry for import only', { type: 'module', exports: { import: './index.js' } }],
    ['stamp-default', 'a default entry', { type: 'module', exports: './index.js' }],
  ] as const;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    for (const [name, , description] of stamps) await install(name, description, { 'index.js': stampOf(name) });
    const entry = { type: 'module', exports: { '.': { import: './index.mjs' } } };
    await install('@someone/greeter', entry, { 'index.mjs': greeter });
    const stages = stamps.map(([name]) => `  - ${name}: { text: hello }\n`).join('');
    const yaml = yamlFor(upstream.baseUrl).replace('- auth\n', `- auth\n${stages}  - greeter\n`);
    await home.write(`plugins: [${stamps.map(([name]) => name).join(', ')}, "@someone/greeter"]\n${yaml}`);
    gateway = await home.start();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  it.each(stamps)('add a stage: %s, with %s', async (name) => {
    expect((await ask(gateway.url)).headers.get(`x-${name}`)).toBe('hello');
  });

  it('add a hapi plugin with an endpoint: one with a scope', async () => {
    const response = await fetch(`${gateway.url}/v1/greeting`, { headers: { authorization: `Bearer ${home.key}` } });
    expect(await response.text()).toBe('welcome');
    expect(gateway.output()).toContain('greeted /v1/greeting');
  });
});

/** Stages that fail for requests whose header `x-fault` names them. */
const faulty = `
import { Readable } from 'node:stream';
const stages = {
  stamp: { leave: (reply) => ({ ...reply, headers: { ...reply.headers, 'x-stamp': 'a\\nb' } }) },
  stuck: { enter: () => new Promise(() => undefined) },
  slow: { leave: () => new Promise((resolve) => setTimeout(resolve, 50)) },
  brittle: {
    enter() {
      const body = new Readable({ read() {} });
      setImmediate(() => body.destroy(new Error('brittle on purpose')));
      return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
    },
  },
  bomb: { enter: () => void Promise.reject(new Error('boom')) },
};
const isFor = ({ headers }, name) => headers['x-fault']?.split(' ').includes(name);
export const plugin = {
  name: 'faulty',
  register({ gateway }) {
    for (const [name, { enter, leave }] of Object.entries(stages))
      gateway.stage({
        name, description: 'Fails.', options: { type: 'object', additionalProperties: false },
        create: () => ({
          ...(enter && { enter: (exchange) => (isFor(exchange, name) ? enter() : undefined) }),
          ...(leave && { leave: (exchange, reply) => (isFor(exchange, name) ? leave(reply) : undefined) }),
        }),
      });
  },
};`;

describe('an npm package', () => {
  const faults = ['stamp', 'stuck', 'slow brittle', 'bomb', 'bomb again'];
  const answers = new Map<string, { readonly status: number; readonly text: string; readonly id: string | null }>();
  let exitCode: number | string;
  let output: string;

  beforeAll(async () => {
    await install('faulty', { type: 'module', exports: './index.js' }, { 'index.js': faulty });
    const stages = ['stamp', 'stuck', 'slow', 'brittle', 'bomb'].map((name) => `  - ${name}\n`);
    const yaml = yamlFor(upstream.baseUrl).replace('- auth\n', `- auth\n${stages.join('')}`);
    await home.write(`plugins: [faulty]\n${yaml}`, 'stage_timeout: 2');
    await using gateway = await home.start();
    const collect = async (fault: string) => {
      const response = await ask(gateway.url, home.key, { 'x-fault': fault });
      const { status, headers } = response;
      answers.set(fault, { status, text: await response.text(), id: headers.get('x-request-id') });
    };
    await Promise.all(faults.map(collect));
    exitCode = await gateway.end('SIGTERM');
    output = gateway.output();
  }, 180_000);

  const answerTo = (fault: string) => {
    const { status, text } = answers.get(fault) ?? { status: 0, text: 'null' };
    return [status, JSON.parse(text)];
  };
  const serverError = [500, { error: { type: 'server_error' } }];
  const recordOf = (fault: string) =>
    home.database.query('SELECT outcome, status, error_code FROM request_log WHERE id = ?', [answers.get(fault)?.id]);

  it('that writes an invalid header is named in the log, and its client gets an error', async () => {
    expect(answerTo('stamp')).toMatchObject(serverError);
    expect(output).toContain('stage "stamp" returned a header "x-stamp" that HTTP does not allow');
    expect(await recordOf('stamp')).toEqual([{ outcome: 'failed', status: 500, error_code: 'internal_error' }]);
  });

  it('whose stage never ends is named in the log, and its client gets an error', () => {
    expect(answerTo('stuck')).toMatchObject(serverError);
    expect(output).toContain('stage "stuck" has not finished after 2 s (enter)');
  });

  it('whose stream breaks during the slow leave of another stage fails one request, not the gateway', async () => {
    expect(answerTo('slow brittle')).toMatchObject(serverError);
    expect(output).toContain('brittle on purpose');
    expect(await recordOf('slow brittle')).toEqual([{ outcome: 'failed', status: 500, error_code: 'internal_error' }]);
  });

  it('that leaves a rejected promise unhandled is named, and does not end the gateway', () => {
    expect([answers.get('bomb')?.status, answers.get('bomb again')?.status, exitCode]).toEqual([200, 200, 0]);
    expect(output.match(/plugin faulty left a rejected promise unhandled: Error: boom/g)).toHaveLength(2);
  });

  it('that pipes a body by hand is named when the body breaks, and the stream of its client ends', async () => {
    const text = `
import { PassThrough, Readable } from 'node:stream';
const options = { type: 'object', additionalProperties: false };
export const piper = {
  name: 'piper', description: 'Pipes.', options,
  create: () => ({ leave: (exchange, reply) => ({ ...reply, body: reply.body.pipe(new PassThrough()) }) }),
};
export const breaker = {
  name: 'breaker', description: 'Breaks off.', options,
  create: () => ({
    enter() {
      const body = new Readable({ read() {} });
      body.push('data: 1\\n\\n');
      setTimeout(() => body.destroy(new Error('cut')), 100);
      return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
    },
  }),
};`;
    await install('piper', { type: 'module', exports: './index.js' }, { 'index.js': text });
    // The later stages, which may wait for minutes, have not entered.
    const yaml = yamlFor(upstream.baseUrl).replace('- auth\n', '- auth\n  - piper\n  - breaker\n');
    await home.write(`plugins: [piper]\n${yaml}`, 'stage_timeout: 1');
    await using gateway = await home.start();
    const response = await ask(gateway.url);
    expect(await readBody(response)).toEqual({
      text: expect.stringMatching(/^data: 1\n\ndata: \{"error":.*\n\n$/),
      isWhole: false,
    });
    expect(gateway.output()).toContain('stage "piper" has sent no chunk for 1 s (body)');
  });

  it('that throws in a timer is named, and ends the gateway after its running requests', async () => {
    const text = `
setInterval(() => {}, 1000);
export const bomb = {
  name: 'bomb', description: 'Fails in the background.', options: { type: 'object', additionalProperties: false },
  create: () => ({ enter: () => void setImmediate(() => { throw new Error('boom'); }) }),
};`;
    await install('bomb-timer', { type: 'module', exports: './index.js' }, { 'index.js': text });
    await using gateway = await startWith('bomb-timer', 'bomb');
    const exited = once(gateway.process, 'exit');
    expect((await ask(gateway.url)).status).toBe(200);
    expect(await exited).toEqual([1, null]);
    expect(gateway.output()).toContain('plugin bomb-timer threw an uncaught exception');
    expect(gateway.output()).toMatch(/unhandled error; the gateway is stopping: Error: boom/);
  });

  it('that cannot be loaded is refused with the reason, and every other one is reported with it', async () => {
    const files: Record<string, string> = {
      'empty-plugin': 'export const a = 1;',
      'broken-plugin': 'throw new Error("broken on purpose");',
      'cut-plugin': '\nconst = 1;',
      'failing-plugin': 'export const plugin = { name: "failing", register() {\n\nthrow new Error("no licence"); } };',
      'hungry-plugin': 'import "not-installed";',
    };
    for (const [name, source] of Object.entries(files))
      await install(name, { type: 'module', exports: './index.js' }, { 'index.js': source });
    const typed = { type: 'module', exports: './index.ts' };
    await install('typed-plugin', typed, { 'index.ts': 'export const a: number = 1;' });
    const listed = ['nowhere-to-be-found', './nothing.ts', 'typed-plugin', ...Object.keys(files)];
    await home.write(`plugins: ${JSON.stringify(listed)}\n${yamlFor(upstream.baseUrl)}`);
    const refused = await home.start().catch((error: Error) => error.message);
    const reasons = [...String(refused).matchAll(/plugins\[\d\]: cannot be loaded: (.*); [^;]*$/gm)];
    expect(reasons.map(([, reason]) => reason)).toEqual([
      expect.stringMatching(/^Cannot find package 'nowhere-to-be-found'/),
      expect.stringMatching(/^file .*nothing\.ts not found$/),
      expect.stringMatching(/^packages must be JavaScript/),
      expect.stringMatching(/^exports neither/),
      expect.stringMatching(/^broken on purpose \(\S+broken-plugin\/index\.js:1\)$/),
      expect.stringMatching(/ \(\S+cut-plugin\/index\.js:2\)$/),
      expect.stringMatching(/^no licence \(\S+failing-plugin\/index\.js:3\)$/),
      expect.stringMatching(/not-installed/),
    ]);
  });
});

describe('README.md', () => {
  it('has examples that are valid when added to the included gateway.yaml, as those of docs/upstreams.md are', async () => {
    const pages = ['README.md', 'docs/upstreams.md', 'docs/operating/metrics.md'];
    const text = (await Promise.all(pages.map(async (page) => readFile(join(root, page), 'utf8')))).join('\n');
    const file = join(root, 'gateway.yaml');
    const environment = {
      OPENAI_API_KEY: 'sk-1',
      OTHER_KEY: 'sk-2',
      OPERATOR_TOKEN: 'a-token-of-some-length',
      AWS_ACCESS_KEY_ID: 'id-1',
      AWS_SECRET_ACCESS_KEY: 'secret-1',
      AZURE_SECRET: 'secret-2',
      GEMINI_API_KEY: 'key-1',
    };
    const examples = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, example]) => parse(example ?? '') as object);
    expect(examples).toHaveLength(6);
    let yaml = parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    for (const example of examples) {
      // In order, because later ones add to the first.
      for (const [section, value] of Object.entries(example)) {
        yaml = { ...yaml, [section]: Array.isArray(value) ? value : { ...(yaml[section] as object), ...value } };
      }
      const document = parseDocument(stringify(yaml), file, environment);
      const { registry } = await assemble(document, silentLog, () => {
        throw new Error('nothing is served here');
      });
      const config = validate(document, registry);
      const catalog = buildCatalog(config, registry.vendors, registry.formats);
      const routes = catalog.resolve('gpt-6-sol')?.routes.filter(({ upstream: { isEnabled } }) => isEnabled);
      expect(routes?.map(({ id }) => id)).toContain('openai/gpt-6-sol');
    }
  });

  it('has curl lines that work', async () => {
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const lead = '```sh\n';
    const block = readme.slice(readme.indexOf(lead) + lead.length).split('```', 1)[0] ?? '';
    const commands = block.replaceAll('\\\n', ' ').matchAll(/^curl (\S+)(.*)$/gm);
    const yaml = await readFile(join(root, 'gateway.yaml'), 'utf8');
    await writeFile(home.file, yaml);
    const gateway = await startHere({ PORT: '0' });
    try {
      let count = 0;
      for (const [, url = '', rest = ''] of commands) {
        const headers = [...rest.matchAll(/-H (["'])(.*?): (.*?)\1/g)].map(
          ([, , name = '', value = '']) => [name, value.replace('$KEY', home.key)] as [string, string],
        );
        const body = /-d '(.*)'/.exec(rest)?.[1];
        const target = url.replace('http://localhost:8080', gateway.url);
        const response = await fetch(target, {
          method: body === undefined ? 'GET' : 'POST',
          headers,
          body: body ?? null,
        });
        expect(response.status, `${url}: ${await response.text()}`).toBe(200);
        count++;
      }
      expect(count).toBe(5);
    } finally {
      await gateway.stop(AbortSignal.abort());
    }
  });
});
