import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  listActions,
  listUnfinishedActions,
  recordAction,
  removeOldActions,
} from '#core/business/operator-actions/operator-actions.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

it('actions of operators are removed over their age, whatever became of them', async () => {
  const operator = { id: randomUUID(), name: 'op@example.com' };
  const act = (subject: string, work: () => Promise<void>) =>
    recordAction(database, { operator, action: 'order.refund', subject, details: { note: 'why' } }, work);
  await act('young', () => Promise.resolve());
  await act('old', () => Promise.resolve());
  await act('failed', () => Promise.reject(new Error('no'))).catch(() => undefined);
  const age = (subject: string, days: number) =>
    database.query('update operator_action set created_at = created_at - make_interval(days => ?) where subject = ?', [
      days,
      subject,
    ]);
  await age('young', 99);
  await age('old', 101);
  await age('failed', 101);
  await removeOldActions(database, 100);
  expect((await listActions(database, { limit: 10 })).map(({ subject }) => subject)).toEqual(['young']);
});

it.each(['why', '{"days": 30}', ' {"days": 30}', ''])('an action keeps the note %j as it was written', async (note) => {
  const operator = { id: randomUUID(), name: 'op@example.com' };
  const subject = randomUUID();
  await recordAction(database, { operator, action: 'account.note', subject, details: { note } }, () =>
    Promise.resolve(),
  );
  const [action] = await listActions(database, { subject, limit: 1 });
  expect([action?.note ?? '', action?.details]).toEqual([note, {}]);
});

it('lists what was running when its process ended, until it is asked for again', async () => {
  const operator = { id: randomUUID(), name: 'op@example.com' };
  const act = (subject: string) =>
    recordAction(database, { operator, action: 'order.check', subject, details: {} }, () => Promise.resolve());
  for (const subject of ['cut', 'cut and repeated', 'running', 'long ago', 'whole']) await act(subject);
  await database.query(`update operator_action set finished_at = null where subject <> 'whole'`);
  for (const [minutes, subject] of [
    [30, 'cut'],
    [31, 'cut and repeated'],
    [5_000, 'long ago'],
    [32, 'whole'],
  ])
    await database.query('update operator_action set created_at = now() - make_interval(mins => ?) where subject = ?', [
      minutes,
      subject,
    ]);
  await act('cut and repeated');
  const now = Date.now();
  const range = { since: now - 4_000 * 60_000, until: now - 15 * 60_000 };
  expect(await listUnfinishedActions(database, range, 5)).toMatchObject([{ subject: 'cut', outcome: 'unknown' }]);
});
