import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResponseParser } from '../../../../plugins/upstream/connections/response-parser.ts';
import { runs } from '../../../support/runs.ts';
import { mutate, mutations, responses } from './responses-fixture.ts';

let server: Server;
let answer: Buffer;
beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

/** The body as Node's client reads it; undefined when it refuses the response. */
async function readByNode(bytes: Buffer): Promise<{ status: number | undefined; body: string } | undefined> {
  answer = bytes;
  const { port } = server.address() as AddressInfo;
  const { promise, resolve } = Promise.withResolvers<{ status: number | undefined; body: string } | undefined>();
  const sent = request({ host: '127.0.0.1', port, method: 'GET', agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', () => resolve(undefined));
    response.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      resolve(response.complete ? { status: response.statusCode, body } : undefined);
    });
  });
  sent.on('error', () => resolve(undefined));
  sent.on('close', () => resolve(undefined));
  sent.end();
  return promise;
}

function readByUs(bytes: Buffer): { status: number; body: string } | undefined {
  const parser = new ResponseParser();
  let status = 0;
  let body = '';
  let isComplete = false;
  const sink = {
    onHead: (given: number) => (status = given),
    onData: (given: Buffer, start: number, end: number) => (body += given.toString('latin1', start, end)),
    onEnd: () => (isComplete = true),
  };
  parser.start(sink, true);
  try {
    parser.execute(bytes);
    parser.close();
  } catch {
    return undefined;
  }
  return isComplete ? { status, body } : undefined;
}

describe("Node's own client", () => {
  it("Node's own client reads the same from a well-formed response", async () => {
    await fc.assert(
      fc.asyncProperty(responses, async ({ text }) => {
        const bytes = Buffer.from(text, 'latin1');
        expect(readByUs(bytes)).toEqual(await readByNode(bytes));
      }),
      runs(100),
    );
  });

  it("Node's own client reads the same from a damaged response that is not refused", async () => {
    await fc.assert(
      fc.asyncProperty(responses, mutations, async ({ text }, changes) => {
        const bytes = Buffer.from(mutate(text, changes), 'latin1');
        const ours = readByUs(bytes);
        const theirs = await readByNode(bytes);
        // It may refuse more, such as what is behind the response, or in an extension; we may as well.
        if (ours !== undefined && theirs !== undefined) expect(ours).toEqual(theirs);
      }),
      runs(200),
    );
  });
});
