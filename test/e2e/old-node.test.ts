import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asNode } from '../support/as-node.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess } from '../support/gateway.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const node = [process.execPath, ...asNode('26.10.0'), 'core/main.mjs'];
const question = { model: 'dp/test', messages: [{ role: 'user', content: 'Hello' }] };
const answer = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'there',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

let upstream: FaultyUpstream;
let collector: FaultyUpstream;
let home: GatewayHome;
let gateway: GatewayProcess;
beforeAll(async () => {
  const json = { 'content-type': 'application/json' };
  upstream = await createUpstream((request, response) => {
    const body = Buffer.from(JSON.stringify(answer));
    if (request.json<{ model: string }>().model !== 'brotli') return response.send(200, json, body);
    return response.send(200, { ...json, 'content-encoding': 'br' }, brotliCompressSync(body));
  });
  collector = await createUpstream((_request, response) =>
    response.send(200, { ...json, 'content-encoding': 'br' }, brotliCompressSync('{}')),
  );
  home = await createGatewayHome(`pipeline: [auth, plan, cache, format, upstream, log]
upstreams: { one: { format: chat, base_url: "${upstream.url}/v1", api_keys: [k] } }
models: { test: { routes: [one/plain] }, brotli: { routes: [one/brotli] }, backed: { routes: [one/brotli, one/plain] } }
telemetry: { endpoint: "${collector.url}" }
`);
  gateway = await home.start({}, node);
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

async function send(body: string | Buffer, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${home.key}`, 'content-type': 'application/json', ...headers },
    body: new Uint8Array(Buffer.from(body)),
  });
  return { status: response.status, text: await response.text() };
}
const ask = (model: string) => send(JSON.stringify({ ...question, model: `dp/${model}` }));

describe('a gateway on a Node.js whose decoder of Brotli is not safe', () => {
  it('says at its start what is off, and what to install', () => {
    expect(gateway.output()).toMatch(/Note +Node\.js 26\.10\.0 lacks .* install 24\.22\.1, 26\.12\.1 or newer/);
  });

  it('refuses a body in br with 415 and the reason, and takes others', async () => {
    const text = JSON.stringify(question);
    const refused = await send(brotliCompressSync(text), { 'content-encoding': 'br' });
    expect([refused.status, refused.text]).toEqual([
      415,
      expect.stringContaining('until the operator updates Node.js'),
    ]);
    expect((await send(gzipSync(text), { 'content-encoding': 'gzip' })).status).toBe(200);
    expect((await send(text)).status).toBe(200);
  });

  it('decodes no answer of an upstream in br: another route serves, or none', async () => {
    expect((await ask('brotli')).status).toBe(502);
    const { status, text } = await ask('backed');
    expect([status, text]).toEqual([200, expect.stringContaining('hello')]);
    expect(upstream.requests.slice(-2).map((request) => request.json<{ model: string }>().model)).toEqual([
      'brotli',
      'plain',
    ]);
    expect(upstream.requests.every((request) => !String(request.headers['accept-encoding'] ?? '').includes('br'))).toBe(
      true,
    );
  });

  it('asks a collector of telemetry for no compression', async () => {
    const request = await collector.waitForRequest(1);
    expect(request.headers['accept-encoding']).toBe('identity');
  });

  it('has a warning of doctor', async () => {
    const [program = '', ...parameters] = [...node, '--config', home.file, 'doctor', '--json', '--only', 'node'];
    const env = { PATH: process.env['PATH'], DATABASE_URL: home.databaseUrl };
    const { stdout } = await promisify(execFile)(program, parameters, { env, cwd: `${import.meta.dirname}/../..` });
    const { ok, checks } = JSON.parse(stdout) as {
      ok: boolean;
      checks: { check: string; state: string; text: string }[];
    };
    expect([ok, checks[0]?.check, checks[0]?.state]).toEqual([true, 'node', 'warning']);
    expect(checks[0]?.text).toContain('Brotli-encoded bodies are rejected and never decoded');
  });
});
