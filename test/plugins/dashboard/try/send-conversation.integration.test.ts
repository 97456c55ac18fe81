import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { PageRequest } from '#core/web/pages/page.ts';
import { sendConversation } from '../../../../plugins/dashboard/try/send-conversation.ts';

/** A page of a signed-in account, with the lines that it logs. */
function createPage(sign: () => Promise<string>) {
  const lines: string[] = [];
  const host = {
    log: { error: (line: string) => lines.push(line) },
    service: { prefix: 'dp' },
    keep: () => ({ sign }),
  };
  const page = { path: '/dashboard/try', id: 'page-1', userAgent: 'Firefox', account: { id: 'one' }, host };
  return { lines, page: page as unknown as PageRequest };
}

/** Sends a conversation to a listener that responds like this. */
async function sendTo(respond: RequestListener, sign = async () => 'token') {
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { page, lines } = createPage(sign);
  try {
    const { durationMs, ...result } = await sendConversation(server, page, {});
    expect(durationMs).toBeGreaterThan(0);
    return { result, lines };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('a conversation that the page sends for a browser without scripts', () => {
  it('has the answer and its usage', async () => {
    const { result, lines } = await sendTo((_request, response) => {
      const body = {
        choices: [{ message: { content: 'Hello.' } }],
        usage: { prompt_tokens: 3, completion_tokens: 2 },
      };
      response.writeHead(200, { 'x-request-id': 'r1' }).end(JSON.stringify(body));
    });
    expect(result).toEqual({
      id: 'r1',
      status: 200,
      answer: 'Hello.',
      usage: { input: 3, output: 2 },
      error: undefined,
    });
    expect(lines).toEqual([]);
  });

  it('has the message of an error, and the seconds to wait', async () => {
    const { result } = await sendTo((_request, response) => {
      response.writeHead(429, { 'x-request-id': 'r1', 'retry-after': '7' }).end('{"error":{"message":"Too many."}}');
    });
    expect(result).toMatchObject({
      id: 'r1',
      status: 429,
      error: { message: 'Too many.', retryAfterSeconds: 7 },
    });
  });

  it('keeps the status and the request of an error that cannot be parsed', async () => {
    const { result } = await sendTo((_request, response) => {
      response.writeHead(503, { 'x-request-id': 'r1', 'retry-after': 'soon' }).end('<html>');
    });
    expect(result).toMatchObject({
      id: 'r1',
      status: 503,
      error: { message: '', retryAfterSeconds: undefined },
    });
  });

  it.each([
    ['cannot be parsed', '<html>'],
    ['is no object', '[]'],
    ['is too large', ' '.repeat(4 * 1024 * 1024 + 1)],
  ])('fails with the request if the reply %s', async (_case, body) => {
    const { result, lines } = await sendTo((_request, response) => {
      response.writeHead(200, { 'x-request-id': 'r1' }).end(body);
    });
    expect(result).toMatchObject({ id: 'r1', status: 502, answer: '', error: { message: '' } });
    expect(lines).toEqual([expect.stringContaining('page-1')]);
  });

  it('fails with the request if the reply is interrupted', async () => {
    const { result, lines } = await sendTo((_request, response) => {
      response.writeHead(200, { 'x-request-id': 'r1', 'content-length': '100' });
      response.write('{', () => response.destroy());
    });
    expect(result).toMatchObject({ id: 'r1', status: 502, error: { message: '' } });
    expect(lines).toHaveLength(1);
  });

  it('has the status 0 if nothing responds', async () => {
    const { result, lines } = await sendTo((_request, response) => void response.destroy());
    expect(result).toMatchObject({ id: '', status: 0, error: { message: '' } });
    expect(lines).toHaveLength(1);
  });

  it('has the status 0 if no token can be signed, so that the page keeps the message', async () => {
    const { result, lines } = await sendTo(
      (_request, response) => void response.end('{}'),
      () => Promise.reject(new Error('the database does not respond')),
    );
    expect(result).toMatchObject({ id: '', status: 0, error: { message: '' } });
    expect(lines).toHaveLength(1);
  });
});
