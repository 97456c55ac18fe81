import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { createUpstream } from '../../support/faulty-upstream.ts';

const text = '{"answer":42}';
const fixed = '26.12.1';
const old = '26.10.0';

/** A server that answers in these codings, whatever it is asked for. */
function answering(bytes: Buffer, coding: string, status = 200) {
  return createUpstream((_request, response) =>
    response.send(status, { 'content-type': 'application/json', 'content-encoding': coding, 'x-mine': '1' }, bytes),
  );
}

async function ask(bytes: Buffer, coding: string, node: string, init: RequestInit = {}, agent?: Agent) {
  await using server = await answering(bytes, coding);
  const response = await outgoingFetch(`${server.url}/x`, init, {
    nodeVersion: node,
    ...(agent !== undefined && { agent }),
  });
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, body, asked: server.requests[0] };
}

describe.each([
  ['by the shared connections', () => undefined],
  ['by an agent of its own', () => new Agent()],
])('a call %s', (_how, agentFor) => {
  it.each(['br', 'BR', 'gzip, br', 'br, gzip'])(
    'on a Node.js whose decoder is not safe leaves an answer in %s as it is',
    async (coding) => {
      const bytes = brotliCompressSync(text);
      const { status, headers, body, asked } = await ask(bytes, coding, old, {}, agentFor());
      expect([status, headers.get('x-mine'), headers.get('content-encoding')]).toEqual([200, '1', null]);
      expect(body.equals(bytes)).toBe(true);
      expect(asked?.headers['accept-encoding']).toBe('identity');
    },
  );

  it('on a Node.js whose decoder is not safe reads gzip that comes unasked', async () => {
    const { body } = await ask(gzipSync(text), 'gzip', old, {}, agentFor());
    expect(body.toString()).toBe(text);
  });

  it('on a Node.js whose decoder is safe decodes br', async () => {
    const { body } = await ask(brotliCompressSync(text), 'br', fixed, {}, agentFor());
    expect(body.toString()).toBe(text);
  });

  it.each([old, fixed])('sends method, headers and form as they are given: %s', async (node) => {
    const init = { method: 'POST', body: new URLSearchParams({ a: 'b c' }), headers: { authorization: 'Bearer x' } };
    const { asked } = await ask(Buffer.from(text), 'identity', node, init, agentFor());
    expect([asked?.method, asked?.body.toString(), asked?.headers.authorization]).toEqual([
      'POST',
      'a=b+c',
      'Bearer x',
    ]);
    expect(asked?.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/);
  });
});

describe.each([old, fixed])('a call on Node.js %s', (node) => {
  it('does not read the body of an answer to HEAD', async () => {
    await using server = await answering(Buffer.alloc(0), 'br');
    const { status, body } = await outgoingFetch(
      server.url,
      { method: 'HEAD', redirect: 'manual' },
      { nodeVersion: node },
    );
    expect([status, body]).toEqual([200, null]);
  });

  it('does not follow a redirect where redirects are refused', async () => {
    await using server = await createUpstream((_request, response) =>
      response.send(302, { location: '/elsewhere' }, Buffer.alloc(0)),
    );
    await expect(outgoingFetch(server.url, { redirect: 'error' }, { nodeVersion: node })).rejects.toThrow(TypeError);
    expect((await outgoingFetch(server.url, { redirect: 'manual' }, { nodeVersion: node })).status).toBe(302);
    expect(server.requests.length).toBe(2);
  });

  it('fails with the code of the connection as its cause', async () => {
    const { url, ...gone } = await answering(Buffer.alloc(0), 'identity');
    await gone[Symbol.asyncDispose]();
    await expect(outgoingFetch(url, {}, { nodeVersion: node })).rejects.toMatchObject({
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('ends at its deadline', async () => {
    await using server = await createUpstream(async (request) => void (await request.closed));
    const asking = outgoingFetch(server.url, { signal: AbortSignal.timeout(20) }, { nodeVersion: node });
    await expect(asking).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
