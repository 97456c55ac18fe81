import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readModelSpeed } from '#core/business/model-health/model-speed.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { foldUsage } from '#core/gateway/records/fold-usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { day, hour, RecordBook, today } from '../../gateway/records/record-fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** 100 tokens in a second after half a second. */
const stream: Partial<RequestRecord> = {
  is_stream: true,
  first_content_ms: 500,
  duration_ms: 1500,
  output_tokens: 100,
};

/** The speed of a model with these records, before and after their deltas are added to the hours. */
async function speedOf(...records: Partial<RequestRecord>[]) {
  const model = `dp/${randomUUID()}`;
  await new RecordBook(database).write(...records.map((record) => ({ ...record, model })));
  const read = async () => (await readModelSpeed(database, today + hour)).get(model);
  const before = await read();
  await foldUsage(database);
  expect(await read()).toEqual(before);
  return before;
}

it('the speed of a model is the tokens of its streams by the time after their first content', async () => {
  const slow = { ...stream, duration_ms: 3500 };
  expect((await speedOf(stream, slow))?.tokensPerSecond).toBeCloseTo(200 / 4);
});

it('the speed of a model leaves out answers that are short, cached, unstreamed, failed, or older than a week', async () => {
  const fast = { ...stream, output_tokens: 9000 };
  const others = [
    { ...fast, output_tokens: 49 },
    { ...fast, duration_ms: 999 },
    { ...fast, cache: 'hit' as const },
    { ...fast, is_stream: false },
    { ...fast, outcome: 'failed' as const },
    { ...fast, started_at: today - 8 * day },
  ];
  const speed = await speedOf(stream, ...others);
  expect(speed?.tokensPerSecond).toBeCloseTo(100);
});

it('the speed of a model has a median of the week for a single answer, without calling it usual', async () => {
  const speed = await speedOf({ first_content_ms: 500, duration_ms: 600 });
  expect(speed?.weekMs).toBeGreaterThan(470);
  expect(speed).toMatchObject({ usualMs: undefined, tokensPerSecond: undefined });
});
