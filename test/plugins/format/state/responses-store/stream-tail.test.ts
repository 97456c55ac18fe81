import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import { streamResponse } from '../../../../../plugins/format/state/responses-store/stream-tail.ts';

/** A host whose database has one batch of a running response; adds the sequence number of each reading to `readings`. */
function createHost(events: string, lastSequence: number, readings: number[]): Host {
  const query = async (sql: string, parameters: readonly unknown[]) => {
    await setImmediate();
    if (sql.includes('running_until')) return [{ until: Number.MAX_SAFE_INTEGER }];
    const after = Number(parameters[2]);
    readings.push(after);
    return after < lastSequence ? [{ events, last_sequence: lastSequence }] : [];
  };
  const kept = new Map<string, unknown>();
  return {
    database: { query },
    now: () => 0,
    keep: (name: string, create: () => unknown) => kept.get(name) ?? kept.set(name, create()).get(name),
  } as never;
}

it('a batch that ends with an event without a number is read once', async () => {
  const events = 'event: a\ndata: {"sequence_number":0}\n\nevent: error\ndata: {"message":"no number"}\n\n';
  const readings: number[] = [];
  const host = createHost(events, 1, readings);
  const body = streamResponse(host, { accountId: 'a', id: 'resp_1' }, -1).body as Readable;
  body.resume();
  await vi.waitFor(() => expect(readings.length).toBeGreaterThan(1));
  body.destroy();
  expect(readings).toEqual([-1, 1]);
});
