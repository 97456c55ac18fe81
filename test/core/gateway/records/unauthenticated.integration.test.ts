import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  addUnauthenticated,
  readUnauthenticated,
  removeUnauthenticated,
} from '#core/gateway/records/unauthenticated.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';

const minute = Date.UTC(2026, 10, 28, 12);

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

it('counts of several instances add up, by block, with blocks that are not counted alone among them', async () => {
  const [block, other] = ['203.0.113.0/24', '2001:db8:1:2::/64'];
  const alone = { minute, block, status: 401, requests: 3 };
  await Promise.all([
    // The same twice: a clock was set back.
    addUnauthenticated(database, [alone, alone, { minute, block, status: 426, requests: 7 }]),
    addUnauthenticated(database, [
      { ...alone, requests: 10 },
      { minute: minute + 60_000, block: undefined, status: undefined, requests: 4 },
      { minute: minute - 60_000, block: other, status: 401, requests: 1 },
    ]),
  ]);
  const blocks = [
    {
      block,
      requests: 23,
      lastMinute: minute,
      statuses: [
        { status: 401, requests: 16 },
        { status: 426, requests: 7 },
      ],
    },
    { block: null, requests: 4, lastMinute: minute + 60_000, statuses: [{ status: null, requests: 4 }] },
  ];
  expect(await readUnauthenticated(database, minute + 59_999, 10)).toEqual({ requests: 27, blocks });
  expect(await readUnauthenticated(database, minute - 60_000, 1)).toEqual({ requests: 28, blocks: blocks.slice(0, 1) });
  await removeUnauthenticated(database, minute);
  expect((await readUnauthenticated(database, 0, 10)).requests).toBe(27);
  expect(await readUnauthenticated(database, minute + 120_000, 10)).toEqual({ requests: 0, blocks: [] });
});
