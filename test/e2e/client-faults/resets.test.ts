import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { generateApiKey } from '#core/business/accounts/api-key.ts';
import { bounds } from '#core/platform/bounds.ts';
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
])('requests of %s with a key whose client resets the connection are recorded', async (agent, line, body = '') => {
  const authorization = `Bearer ${home.key}`;
  expect((await fetch(`${gateway.url}/v1/key`, { headers: { authorization } })).status).toBe(200);
  await sendAndReset(
    `${line} HTTP/1.1\r\nhost: x\r\nuser-agent: ${agent}\r\nauthorization: ${authorization}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
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
  // Not aborted only where the gateway was faster than the reset.
  expect(rows.filter(({ outcome }) => outcome === 'interrupted')).toEqual([]);
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

it('requests without a key are counted, whether they are refused, ask for a WebSocket or reset the connection', async () => {
  const [before, total] = [await readCounts(), await readTotal()];
  const wrong = { authorization: `Bearer ${generateApiKey('dp')}` };
  for (let sent = 0; sent < count; sent++) {
    const headers = { 'user-agent': 'stranger', ...(sent % 2 === 0 ? {} : wrong) };
    await (await fetch(`${gateway.url}/v1/models`, { headers })).text();
    await askForUpgrade();
  }
  await sendAndReset('GET /v1/nowhere HTTP/1.1\r\nhost: x\r\nuser-agent: stranger\r\n\r\n');
  // Connections may wait to be accepted. The counts of the last minute are stored at the end.
  await vi.waitFor(async () => expect(await readTotal()).toBe(total + 3 * count), { timeout: 15_000, interval: 50 });
  await gateway.end('SIGTERM');
  const after = await readCounts();
  gateway = await home.start();
  const counted = (...statuses: (number | null)[]) =>
    statuses.reduce<number>((sum, status) => sum + (after.get(status) ?? 0) - (before.get(status) ?? 0), 0);
  expect([counted(426), counted(401, 429, null)]).toEqual([count, 2 * count]);
  const [rows] = await home.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM request_log WHERE user_agent = 'stranger' GROUP BY date_trunc('minute', started_at)
     ORDER BY 1 DESC`,
  );
  expect(rows?.count).toBeGreaterThan(0);
  expect(rows?.count).toBeLessThanOrEqual(2 * bounds.unauthenticatedRecords.total);
});

/** Requests without an account from this machine, by status. */
async function readCounts(): Promise<Map<number | null, number>> {
  const counts = await home.database.query<{ status: number | null; requests: number }>(
    `SELECT status, sum(requests)::int AS requests FROM unauthenticated_minute
     -- The system no longer knows who has reset a connection.
     WHERE address_block = '127.0.0.0/24' OR (address_block IS NULL AND status IS NULL) GROUP BY status`,
  );
  return new Map(counts.map(({ status, requests }) => [status, requests]));
}

/** Requests of the API that are over, by the gateway's metrics. */
async function readTotal(): Promise<number> {
  const text = await (await fetch(`${gateway.operatorUrl}/metrics`)).text();
  const values = [...text.matchAll(/^daypass_requests_total\{.*\} (\d+)$/gm)].map(([, value]) => Number(value));
  return values.reduce((sum, value) => sum + value, 0);
}

async function askForUpgrade(): Promise<void> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  const lines = ['GET /v1/messages HTTP/1.1', 'host: x', 'user-agent: stranger'];
  const upgrade = ['connection: upgrade', 'upgrade: websocket'];
  socket.once('data', () => socket.end()).write(`${[...lines, ...upgrade].join('\r\n')}\r\n\r\n`);
  await once(socket, 'close');
}

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
