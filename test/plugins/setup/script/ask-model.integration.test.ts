import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../support/gateway.ts';
import { startDemoGateway } from './demo-gateway.ts';
import { runParts, startStub, type StubGateway, testKey, toolFolder } from './parts-fixture.ts';

const formats = ['chat', 'responses', 'messages', 'gemini'] as const;
type Format = (typeof formats)[number];

/** Lines FORMAT: SECONDS, or FORMAT: PROBLEM. */
function askAll(key: string, models: Readonly<Record<string, string>>): string {
  return `run.key = ${JSON.stringify(key)};
run.keyHint = 'hint';
for (const [format, model] of Object.entries(${JSON.stringify(models)})) {
  const { seconds, problem } = askModel(format, model);
  printLine(format + ': ' + (problem || seconds));
}`;
}

describe('question to the gateway', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startDemoGateway();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  async function ask(model: string, key = gateway.key, baseUrl = gateway.url) {
    const models = Object.fromEntries(formats.map((format) => [format, model]));
    const { stdout, stderr } = await runParts(askAll(key, models), { baseUrl });
    expect(stderr).toBe('');
    return stdout;
  }

  it('--verify asks the model to call a tool, in every format', async () => {
    const time = String.raw`\d+(\.\d)?\n`;
    expect(await ask('dp/demo')).toMatch(new RegExp(`^${formats.map((format) => `${format}: ${time}`).join('')}$`));
  });

  it('--verify repeats the error of the gateway about the model', async () => {
    const unknown = await ask('dp/nothing');
    for (const format of formats) expect(unknown).toContain(`${format}: no such model: dp/nothing (`);
    const down = await ask('dp/other');
    for (const format of formats) expect(down).toMatch(new RegExp(`${format}: the gateway answered with 5\\d\\d: `));
  });

  it('--verify names an invalid key, and an address where nothing listens', async () => {
    const wrong = await ask('dp/demo', testKey);
    for (const format of formats) expect(wrong).toContain(`${format}: the key hint is not valid`);
    const absent = await ask('dp/demo', testKey, 'http://127.0.0.1:1');
    for (const format of formats)
      expect(absent).toContain(`${format}: Nothing accepts connections at http://127.0.0.1:1`);
  });
});

const json = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

describe('answer', () => {
  const name = 'report_ready';
  const calls: Readonly<Record<Format, string>> = {
    chat: json({ choices: [{ delta: { tool_calls: [{ function: { name } }] } }] }),
    responses: json({ type: 'response.output_item.added', item: { type: 'function_call', name } }),
    messages: json({ type: 'content_block_start', content_block: { type: 'tool_use', name } }),
    gemini: json({ candidates: [{ content: { parts: [{ text: '' }, { functionCall: { name } }] } }] }),
  };
  const ends: Readonly<Record<Format, string>> = {
    chat: 'data: [DONE]\r\n\r\n',
    responses: json({ type: 'response.completed', response: { error: null } }),
    messages: json({ type: 'message_stop' }),
    gemini: json({ candidates: [{ finishReason: 'STOP' }] }).trimEnd(),
  };
  const errors: Readonly<Record<Format, string>> = {
    chat: json({ error: { message: 'It "broke".' } }),
    responses: json({ type: 'response.failed', response: { error: { message: 'It "broke".' } } }),
    messages: json({ type: 'error', error: { message: 'It "broke".' } }),
    gemini: json({ error: { code: 503, message: 'It "broke".' } }),
  };
  const answers: Readonly<Record<string, (format: Format) => string>> = {
    good: (format) => calls[format] + ends[format],
    text: (format) => json({ text: name, choices: [{ delta: { content: name } }] }) + ends[format],
    cut: (format) => calls[format],
    error: (format) => calls[format] + errors[format] + ends[format],
    failed: (format) => calls[format] + errors[format],
    json: () => JSON.stringify({ choices: [{ message: { tool_calls: [{ function: { name } }] } }] }),
  };
  let stub: StubGateway;

  beforeAll(async () => {
    stub = await startStub((path, response) => {
      const format = formats.find((one) => path.includes(one === 'gemini' ? 'v1beta' : one)) ?? 'chat';
      const answer = answers[path.split('/')[1] ?? ''];
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (path.startsWith('/failed/')) response.write(answer?.(format), () => response.socket?.end());
      else response.end(answer?.(format));
    });
  });
  afterAll(() => stub[Symbol.asyncDispose]());

  it.each([
    ['good', /^(\w+: [\d.]+\n){4}$/],
    ['text', /^(\w+: m answered without calling the tool\n){4}$/],
    ['cut', /^(\w+: the stream broke off before its end\n){4}$/],
    ['error', /^(\w+: the stream ended with an error: It "broke"\.\n){4}$/],
    ['json', /^(\w+: the stream broke off before its end\n){4}$/],
  ])('has one verdict in every format: %s', async (kind, expected) => {
    const models = Object.fromEntries(formats.map((format) => [format, 'm']));
    const { stdout } = await runParts(askAll(testKey, models), { baseUrl: `${stub.url}/${kind}` });
    expect(stdout).toMatch(expected);
  });

  it.each(['curl', 'this runtime'])('has the words of a stream that failed and broke off: by %s', async (client) => {
    const path = await toolFolder(client === 'curl' ? ['curl'] : []);
    const models = Object.fromEntries(formats.map((format) => [format, 'm']));
    const { stdout } = await runParts(askAll(testKey, models), { baseUrl: `${stub.url}/failed`, path });
    await rm(path, { recursive: true });
    expect(stdout).toMatch(/^(\w+: the stream ended with an error: It "broke"\.\n){4}$/);
  });

  it('tools of the same format and model share one request of --verify', async () => {
    const before = stub.requests.length;
    const pairs = ['chat a/b', 'chat a/b', 'chat a', 'messages a/b'];
    const body = `for (const pair of ${JSON.stringify(pairs)}) printLine(askModel(...pair.split(' ')).problem)`;
    const { stdout } = await runParts(body, { baseUrl: `${stub.url}/good` });
    expect(stdout).toBe('\n\n\n\n');
    expect(stub.requests.length - before).toBe(3);
  });
});
