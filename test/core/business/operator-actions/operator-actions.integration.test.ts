import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import { listActions, recordAction, removeOldActions } from '#core/business/operator-actions/operator-actions.ts';
import { createTestDatabase } from '../../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

it('removes actions over their age, whatever became of them', async () => {
  const operator = { id: randomUUID(), name: 'op@example.com' };
  const act = (subject: string, work: () => Promise<void>) =>
    recordAction(database, { operator, action: 'order.refund', subject, words: { note: 'why' } }, work);
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

it.each(['why', '{"days": 30}', ' {"days": 30}', ''])('keeps the note %j as it was written', async (note) => {
  const operator = { id: randomUUID(), name: 'op@example.com' };
  const subject = randomUUID();
  await recordAction(database, { operator, action: 'account.note', subject, words: { note } }, () => Promise.resolve());
  const [action] = await listActions(database, { subject, limit: 1 });
  expect([action?.note ?? '', action?.details]).toEqual([note, {}]);
});
