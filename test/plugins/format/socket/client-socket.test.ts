import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { slotWait } from '#core/gateway/facts.ts';
import type { MessageRunner, MessageClient, InboundMessage } from '#core/gateway/http/run-message.ts';
import { ProcessMemory } from '#core/platform/memory/budget.ts';
import { ClientSocket } from '../../../../plugins/format/socket/client-socket.ts';
import { KeptConversations } from '../../../../plugins/format/socket/kept-conversations.ts';
import type { SocketContext, SocketInit } from '../../../../plugins/format/socket/socket-init.ts';
import { createExchange } from '../../../support/exchange.ts';

const MiB = 1024 ** 2;

/** A message of a socket that has become an exchange, which tests continue by hand. */
interface Running {
  readonly message: InboundMessage;
  readonly client: MessageClient;
  end(): void;
}

let running: Running[];

const messageRunner = {
  runMessage(message: InboundMessage, client: MessageClient) {
    const { promise, resolve } = Promise.withResolvers<void>();
    running.push({ message, client, end: resolve });
    return promise;
  },
} as Partial<MessageRunner> as MessageRunner;

beforeEach(() => {
  vi.useFakeTimers();
  running = [];
});
afterEach(() => {
  vi.useRealTimers();
});

/** A socket, and the texts that its client gets. */
function open({ maxBytes = 4 * MiB, memory = new ProcessMemory(1024 * MiB), queueWait = 15 } = {}) {
  const ws = Object.assign(new EventEmitter(), {
    readyState: 1,
    OPEN: 1,
    bufferedAmount: 0,
    close() {},
    terminate() {},
  });
  const said: string[] = [];
  const socket = Object.assign(new EventEmitter(), { write: (text: string) => said.push(text) });
  const endpoint = { name: 'responses', method: 'POST', path: '/v1/responses', isMetered: true };
  const keptConversations = new KeptConversations({ totalBytes: MiB, accountBytes: MiB }, () => true);
  const context = { messageRunner, keptConversations, endpoint, warmUp: endpoint, now: () => performance.now() };
  const client = new ClientSocket(
    context as SocketContext,
    {
      ws,
      socket,
      headers: {},
      path: '/v1/responses',
      query: new URLSearchParams(),
      isAuthenticated: true,
      maxMinutes: 60,
      queueWaitSeconds: queueWait,
      maxBytes,
      memory: memory.createShare('account'),
      waitingMemory: memory.createShare('account'),
    } as unknown as SocketInit,
  );
  client.listen(() => undefined);
  const create = async (lane: string, size = 10) => {
    const frame = { type: 'response.create', stream_id: lane, model: 'm', input: 'x'.repeat(size) };
    ws.emit('message', Buffer.from(JSON.stringify(frame)), false);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { create, said, ws, socket };
}

describe('the requests of a socket', () => {
  it('count toward the bytes that wait on it until their bodies are read, which is behind all limits', async () => {
    const { create, said } = open();
    for (const lane of ['a', 'b', 'c']) await create(lane, MiB);
    expect([running.length, said]).toEqual([3, []]);
    await create('d', MiB);
    expect(running.length).toBe(3);
    expect(said.join()).toContain('Too many requests wait on this WebSocket');
    running[0]?.message.onRead?.();
    await create('d', MiB);
    expect([running.length, said.length]).toEqual([4, 1]);
  });

  it('count no longer when they are refused before their bodies are read', async () => {
    const { create, said } = open();
    for (const lane of ['a', 'b', 'c']) await create(lane, MiB);
    running[1]?.end();
    await vi.advanceTimersByTimeAsync(0);
    await create('d', MiB);
    expect([running.length, said]).toEqual([4, []]);
  });

  it('count as long as they run although their client has left, and those that wait no longer', async () => {
    const memory = new ProcessMemory(1024 * MiB);
    const { create, ws } = open({ memory, maxBytes: 5 * MiB });
    await create('a', MiB);
    const each = memory.reserved;
    for (const lane of ['b', 'a', 'c']) await create(lane, MiB);
    expect([running.length, memory.reserved]).toEqual([3, 4 * each]);
    ws.emit('close');
    expect(memory.reserved).toBe(3 * each);
    running[0]?.message.onRead?.();
    expect(memory.reserved).toBe(2 * each);
    for (const { end } of running) end();
    await vi.advanceTimersByTimeAsync(0);
    expect([running.length, memory.reserved]).toEqual([3, 0]);
  });

  it('that are read after the end of their connection neither run nor count', async () => {
    const memory = new ProcessMemory(1024 * MiB);
    const { create, socket } = open({ memory });
    socket.emit('end');
    await create('a', MiB);
    expect([running.length, memory.reserved, memory.refusals.body]).toEqual([0, 0, 0]);
  });

  it('count toward what their account may hold on all of its sockets', async () => {
    const memory = new ProcessMemory(16 * MiB);
    const [one, two] = [open({ memory }), open({ memory })];
    for (const lane of ['a', 'b']) {
      await one.create(lane, 1.2 * MiB);
      await two.create(lane, 1.2 * MiB);
    }
    // A quarter of all, which the first share over it may exceed.
    expect(running.length).toBe(4);
    await one.create('c', 1.2 * MiB);
    expect(running.length).toBe(4);
    expect(one.said.join()).toContain('memory');
    for (const { message } of running) message.onRead?.();
    await one.create('c', 1.2 * MiB);
    expect(running.length).toBe(5);
  });

  it('wait no longer for a slot than is left of their time at the head of their lane', async () => {
    const { create, said } = open();
    for (let lane = 0; lane < 18; lane++) await create(`lane-${lane}`);
    expect(running.length).toBe(16);
    await vi.advanceTimersByTimeAsync(9_000);
    running[3]?.end();
    await vi.advanceTimersByTimeAsync(0);
    const waits = running.map(({ client }) => {
      const exchange = createExchange();
      client.onStart(exchange);
      return exchange.get(slotWait);
    });
    expect(waits).toEqual([...Array.from({ length: 16 }, () => 15_000), 6_000]);
    expect(said).toEqual([]);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(said.join()).toMatch(/lane-17.*16 requests are in flight on this WebSocket|16 requests.*lane-17/);
  });
});

describe('a socket that is too old', () => {
  it('ends with the refusal of a request, by which clients open another one, and not with that of another message', async () => {
    const { create, said, ws } = open();
    const close = vi.spyOn(ws, 'close');
    await vi.advanceTimersByTimeAsync(60 * 60_000 + 1);
    ws.emit('message', Buffer.from('{"type":"response.interrupt","response_id":"resp_1"}'), false);
    await vi.advanceTimersByTimeAsync(0);
    expect([said.join(), close.mock.calls]).toEqual([expect.stringContaining('is not running'), []]);
    await create('a');
    expect(said.join()).toContain('websocket_connection_limit_reached');
    expect(close.mock.calls).toEqual([[1001, 'the connection is too old']]);
  });
});
