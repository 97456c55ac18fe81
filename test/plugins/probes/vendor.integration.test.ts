import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '#core/platform/json.ts';
import { answerAbly } from '../../support/able-model.ts';
import { runCommand } from '../../support/command-line.ts';
import { createUpstream, type Handler } from '../../support/faulty-upstream.ts';

vi.setConfig({ testTimeout: 120_000 });

const secret = 'sk-live-0123456789abcdef';

/** Takes keys in `api-key` alone, calls its limit otherwise, streams no usage, calls one tool at a time and sees nothing. */
const odd: Handler = (request, response) => {
  const refuse = (status: number, message: string) => response.json(status, { error: { message, type: 'invalid' } });
  if (request.path !== '/v1/chat/completions') return refuse(404, 'no such path');
  if (request.headers['api-key'] !== secret) return refuse(401, 'no key');
  const body = request.json<JsonObject>();
  if (body['max_tokens'] !== undefined) return refuse(400, 'max_tokens is not supported; use max_completion_tokens');
  if (body['reasoning_effort'] !== undefined) return refuse(400, 'reasoning_effort is not supported');
  if (body['stream_options'] !== undefined) return refuse(400, 'stream_options is not supported');
  const seen = JSON.parse(JSON.stringify(body).replaceAll('image_url', 'hidden')) as JsonObject;
  const answer = answerAbly({ ...seen, parallel_tool_calls: false });
  if (body['stream'] !== true) return response.json(200, answer.whole());
  response.sse(...answer.chunks());
  return response.end();
};

it('what a vendor deviates in is found, and written as a configuration that daypass check accepts', async () => {
  await using upstream = await createUpstream(odd);
  const { code, out, errors } = await runCommand(['probe', `${upstream.url}/v1`, '--ask', '--model', 'acme/odd-1'], {
    PROBE_KEY: secret,
  });
  expect([code, errors.includes(secret), out.includes(secret)]).toEqual([0, false, false]);
  const found = parse(out) as { upstreams: object; models: { 'odd-1': { routes: object[] } } };
  expect(found.upstreams).toEqual({
    vendor: {
      format: 'chat',
      base_url: `${upstream.url}/v1`,
      auth: 'api-key',
      api_keys: ['${VENDOR_API_KEY}'],
    },
  });
  expect(found.models['odd-1'].routes).toEqual([
    {
      to: 'vendor/acme/odd-1',
      capabilities: { reasoning: false, parallel_tools: false, images: false },
      quirks: { max_tokens_name: 'max_completion_tokens', stream_usage: false },
    },
  ]);
  const folder = await mkdtemp(join(tmpdir(), 'daypass-vendor-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'gateway.yaml');
  await writeFile(file, `pipeline: [auth, plan, rate-limit, cache, format, upstream, log]\n${out}`);
  const checked = await runCommand(['check', '--config', file], { VENDOR_API_KEY: secret });
  expect(checked.code, checked.errors).toBe(0);
});

it('a vendor that answers nothing is no configuration, and the reasons are printed', async () => {
  await using upstream = await createUpstream((_request, response) => response.json(401, { error: { message: 'no' } }));
  const { code, out, errors } = await runCommand(['probe', upstream.url, '--ask', '--model', 'x', '--key', secret]);
  expect([code, out]).toEqual([1, '']);
  expect(errors).toContain('did not answer in any format');
  expect(errors).not.toContain(secret);
  const { code: usage } = await runCommand(['probe', upstream.url, '--ask']);
  expect(usage).toBe(2);
});

it('a host that cannot be reached ends the search at once, and a sentence says why', async () => {
  const upstream = await createUpstream([]);
  await upstream[Symbol.asyncDispose]();
  const { code, out, errors } = await runCommand(['probe', upstream.url, '--ask', '--model', 'x', '--key', secret]);
  expect([code, out]).toEqual([1, '']);
  expect(errors).toContain(`${upstream.url} cannot be reached: connection refused.`);
  expect(errors).not.toContain('chat bearer');
});

it('a refused key is sent once in each way for each format', async () => {
  await using upstream = await createUpstream((_request, response) =>
    response.json(401, { error: { message: 'invalid key', type: 'authentication_error' } }),
  );
  await runCommand(['probe', upstream.url, '--ask', '--model', 'x', '--key', secret]);
  const sent = upstream.requests.map(
    ({ path, headers }) =>
      `${path.split('?')[0]} ${['authorization', 'api-key', 'x-api-key', 'x-goog-api-key'].find((name) => name in headers)}`,
  );
  expect(sent).toEqual([...new Set(sent)]);
  expect(sent).toHaveLength(9);
});

it('a base URL whose unknown paths forbid everything is tried with /v1 as well', async () => {
  await using upstream = await createUpstream((request, response) =>
    request.path === '/v1/chat/completions'
      ? odd(request, response)
      : response.json(403, { message: 'Missing Authentication Token' }),
  );
  const { out } = await runCommand(['probe', upstream.url, '--ask', '--model', 'x', '--key', secret]);
  expect(parse(out)).toMatchObject({ upstreams: { vendor: { base_url: `${upstream.url}/v1`, auth: 'api-key' } } });
});

it('without a key, each format of each base URL is asked in one way', async () => {
  await using upstream = await createUpstream((_request, response) => response.json(404, { error: { message: 'no' } }));
  await runCommand(['probe', upstream.url, '--ask', '--model', 'x'], { PROBE_KEY: '' });
  expect(upstream.requests).toHaveLength(10);
});

it('a host that closes every connection without a response is asked once for each base URL', async () => {
  await using upstream = await createUpstream((_request, response) => response.cut());
  const { code } = await runCommand(['probe', upstream.url, '--ask', '--model', 'x', '--key', secret]);
  expect([code, upstream.requests.length]).toEqual([1, 2]);
});

it('a model that answers only with room for hidden reasoning is not declared to have none', async () => {
  await using upstream = await createUpstream((request, response) => {
    if (request.path !== '/v1/chat/completions') return response.json(404, { error: { message: 'no such path' } });
    const body = request.json<JsonObject>();
    const { reasoning_effort: _, ...plain } = body;
    const isCut = Number(body['max_tokens'] ?? body['max_completion_tokens']) < 1_000;
    const answer = answerAbly(plain);
    if (body['stream'] === true) return (response.sse(...answer.chunks()), response.end());
    const whole = answer.whole();
    const choice = { index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'length' };
    return response.json(200, isCut ? { ...whole, choices: [choice] } : whole);
  });
  const { out, errors } = await runCommand(['probe', `${upstream.url}/v1`, '--ask', '--model', 'x', '--key', secret]);
  expect(errors).toMatch(/^reasoning +failed +no_reasoning/m);
  expect(out).not.toContain('reasoning: false');
});

it('a self-hosted server is known by its list of models, and nothing else is asked', async () => {
  await using upstream = await createUpstream(({ path }, response) =>
    path === '/v1/models'
      ? response.json(200, { object: 'list', data: [{ id: 'tiny', owned_by: 'llamacpp' }] })
      : response.json(404, {}),
  );
  const { code, out, errors } = await runCommand(['probe', upstream.url]);
  expect(code, errors).toBe(0);
  expect(parse(out)).toEqual({ upstreams: { 'llama-cpp': { vendor: 'llama-cpp', base_url: `${upstream.url}/v1` } } });
  expect(out).toMatch(/^# +named_tools: false$/m);
  expect(out).toContain('# Its models: tiny');
  expect(upstream.requests.map(({ path }) => path)).toEqual(['/v1/models']);
});

it('a vendor whose list of models does not identify it is probed only on request', async () => {
  await using upstream = await createUpstream((_request, response) => response.json(200, { data: [{ id: 'x' }] }));
  const { code, out, errors } = await runCommand(['probe', `${upstream.url}/v1`, '--model', 'x']);
  expect([code, out]).toEqual([1, '']);
  expect(errors).toContain('--ask');
  expect(new Set(upstream.requests.map(({ path }) => path))).toEqual(new Set(['/v1/models']));
});
