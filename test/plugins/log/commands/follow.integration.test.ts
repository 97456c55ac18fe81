import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import { followRequests } from '../../../../plugins/log/commands/follow.ts';
import { createGauge } from '../../../core/business/accounts/fixture.ts';
import { RecordBook } from '../../../core/gateway/records/record-fixture.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { MemoryLog } from '../fixture.ts';
import { createCommandHost } from './fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

it('daypass requests --follow prints the last requests, then new ones, over a failure of the database, until it is ended', async () => {
  const book = new RecordBook(database);
  const log = new MemoryLog();
  const down = Promise.withResolvers<void>();
  const { gauge, gauged } = createGauge(database);
  const warn = (message: string) => down.resolve(log.warn(message));
  const host = Object.assign(createCommandHost(gauged, Date.now()), { log: { ...log, warn } });
  const controller = new AbortController();
  const lines: string[] = [];
  let expected = 0;
  let reached = Promise.withResolvers<void>();
  const until = (count: number) => {
    expected = count;
    reached = Promise.withResolvers();
    if (lines.length >= count) reached.resolve();
    return reached.promise;
  };
  const print = (line: string) => {
    lines.push((JSON.parse(line) as { id: string }).id);
    if (lines.length >= expected) reached.resolve();
  };
  const at = Date.now() - 1_000;
  const [, second, third] = await book.write({ started_at: at }, { started_at: at + 1 }, { started_at: at + 2 });
  const following = followRequests(
    host,
    { accountId: book.accountId },
    {
      print,
      isJson: true,
      timeZone: 'UTC',
      limit: 2,
      signal: controller.signal,
    },
  );
  await until(2);
  gauge.failure = new Error('connection lost');
  await down.promise;
  const [early] = await book.write({ started_at: at - 500 });
  gauge.failure = undefined;
  await until(3);
  controller.abort();
  await following;
  expect(lines).toEqual([second, third, early]);
  expect(log.lines).toEqual([expect.stringContaining('connection lost'), 'info the database is available again']);
});
