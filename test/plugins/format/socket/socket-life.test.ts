import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { ProcessMemory } from '#core/platform/memory/budget.ts';
import { SocketLife } from '../../../../plugins/format/socket/socket-life.ts';

const limits = { writeTimeoutSeconds: 300, bodyTimeoutSeconds: 60, minBytesPerSecond: 10_000 };
const MiB = 1024 ** 2;

/** A connection whose time, and whose bytes that wait in the system, the test sets. */
function setUp(capacity = 1024 * MiB) {
  const state = { now: 1_000, pings: 0, queue: { bytesWritten: 0, writeQueueSize: 0 }, bufferedAmount: 0 };
  const ws = {
    get bufferedAmount() {
      return state.bufferedAmount;
    },
    ping: () => state.pings++,
  };
  const socket = { _handle: state.queue };
  const memory = new ProcessMemory(capacity).createShare('a');
  const life = new SocketLife(ws as unknown as WebSocket, socket as unknown as Socket, memory, () => state.now);
  /** Looks every five seconds. @returns the first reason to end */
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second += 5) {
      state.now += 5_000;
      const end = life.check(limits);
      if (end !== undefined) return end;
    }
    return undefined;
  };
  return { state, life, memory, pass };
}

it('an idle connection is pinged every 25 s, and lives as long as it answers', () => {
  const { state, life, pass } = setUp();
  for (let minute = 0; minute < 10; minute++) {
    expect(pass(30)).toBeUndefined();
    life.countControlFrame(125);
  }
  expect(state.pings).toBeGreaterThanOrEqual(10);
});

it('a client that answers no ping is taken for gone', () => {
  const { pass } = setUp();
  expect(pass(60)).toBeUndefined();
  expect(pass(15)).toBe('silent');
});

it('a message is a sign of life', () => {
  const { life, pass } = setUp();
  expect(pass(60)).toBeUndefined();
  life.endMessage();
  expect(pass(20)).toBeUndefined();
});

it('a client that is in the middle of a message answers no ping', () => {
  const { life, pass } = setUp();
  expect(pass(20)).toBeUndefined();
  for (let step = 0; step < 20; step++) {
    life.countBytes(1_000_000);
    expect(pass(5)).toBeUndefined();
  }
});

it('empty pings take only themselves off an unfinished message', () => {
  const { life, pass } = setUp();
  for (let step = 0; step < 10; step++) {
    life.countBytes(2_000 + 16 * 6);
    for (let ping = 0; ping < 16; ping++) life.countControlFrame(0);
    pass(5);
  }
  expect(pass(20)).toBe('slow');
});

it('a client that reads nothing ends after the write timeout, and one that reads slowly stays', () => {
  const { state, pass } = setUp();
  state.bufferedAmount = 1_000_000;
  Object.assign(state.queue, { bytesWritten: 1_000_000, writeQueueSize: 1_000_000 });
  for (let minute = 0; minute < 10; minute++) {
    state.queue.writeQueueSize -= 1_000;
    expect(pass(60)).toBeUndefined();
  }
  expect(pass(305)).toBe('stuck');
});

it('a message that never ends is too slow, and one that keeps its pace is not', () => {
  const { life, pass } = setUp();
  life.countBytes(10);
  life.countControlFrame(125);
  expect(pass(20)).toBeUndefined();
  life.countBytes(500);
  for (let step = 0; step < 12; step++) {
    life.countControlFrame(125);
    life.countBytes(131);
    pass(5);
  }
  expect(pass(5)).toBe('slow');
});

it('a flood of control frames ends the connection', () => {
  const { life, pass } = setUp();
  for (let count = 0; count < 501; count++) life.countControlFrame(125);
  expect(pass(5)).toBe('flooding');
});

it('the bytes of an unfinished message are reserved as they come, and given back at its end', () => {
  const { life, memory } = setUp(8 * MiB);
  expect(life.countBytes(60_000)).toBe(true);
  expect(memory.bytes).toBe(0);
  expect(life.countBytes(MiB)).toBe(true);
  expect(memory.bytes).toBeGreaterThan(MiB - 10_000);
  expect(life.countBytes(16 * MiB)).toBe(false);
  life.endMessage();
  expect(memory.bytes).toBe(0);
});
