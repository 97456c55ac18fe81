import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createGatewayHome, type GatewayHome, type GatewayProcess, yamlFor } from '../../support/gateway.ts';

const count = 200;
const atOnce = 20;

/** A process, because the fault ended it: every request of a client that had left was an unhandled rejection. */
let home: GatewayHome;
let gateway: GatewayProcess;
beforeAll(async () => {
  home = await createGatewayHome(yamlFor('http://127.0.0.1:9/v1'));
  gateway = await home.start();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

it.each([
  ['the API', 'GET /v1/models'],
  ['the API with a body', 'POST /v1/messages', '{}'],
])('requests of %s whose client resets the connection are recorded', async (agent, line, body = '') => {
  await sendAndReset(
    `${line} HTTP/1.1\r\nhost: x\r\nuser-agent: ${agent}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const rows = await vi.waitFor(
    async () => {
      const query = 'SELECT outcome FROM request_log WHERE user_agent = ?';
      const records = await home.database.query<{ outcome: string }>(query, [agent]);
      expect(records).toHaveLength(count);
      return records;
    },
    { timeout: 15_000, interval: 50 },
  );
  // Refused only where the gateway was faster than the reset.
  expect(rows.filter(({ outcome }) => outcome !== 'aborted' && outcome !== 'refused')).toEqual([]);
});

it.each([
  ['a health check', 'GET /livez'],
  ['a page', 'GET /sign-in'],
])('clients of %s that reset the connection leave no line in the log', async (_what, line) => {
  const before = gateway.output();
  await sendAndReset(`${line} HTTP/1.1\r\nhost: x\r\n\r\n`);
  expect((await fetch(`${gateway.url}/livez`)).status).toBe(200);
  expect(gateway.output().slice(before.length)).toBe('');
});

async function sendAndReset(request: string): Promise<void> {
  const { port } = new URL(gateway.url);
  for (let sent = 0; sent < count; sent += atOnce) {
    const clients = Array.from({ length: atOnce }, async () => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      socket.write(request, () => socket.resetAndDestroy());
      await once(socket, 'close');
    });
    await Promise.all(clients);
  }
}
