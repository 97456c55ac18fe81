import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { coreEntities } from '#core/process/entities.ts';
import { clockOf, pause, playSequences, step } from '../../../payments/sequences.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../../../support/database.ts';
import { execute } from '../../../support/global-postgres.ts';
import { tablesHere } from '../../../support/registered.ts';

/** Runs of eight buyers each: `npm run payments` plays 10,000 sequences. */
const runs = Number(process.env['PAYMENT_RUNS'] ?? 3);
const buyers = 8;

let url: string;
let database: Database;
beforeAll(async () => {
  url = await createBareDatabase();
  await execute(url, clockOf(new URL(url).pathname.slice(1)));
  const options = { dataFolder: tmpdir(), log: silentLog, mode: 'command', isShared: true } as const;
  database = await openDatabase({ entities: coreEntities, tables: await tablesHere(), url, ...options });
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await dropDatabase(url);
});

it(
  'days, states, books and flags equal the model after any business over two instances',
  async () => {
    const sequence = fc.array(step, { minLength: 12, maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(sequence, { minLength: buyers, maxLength: buyers }),
        fc.array(pause, { minLength: 5, maxLength: 24 }),
        (sequences, pauses) =>
          playSequences(database, sequences, pauses, (seen, expected) => expect(seen).toEqual(expected)),
      ),
      { numRuns: runs, endOnFailure: process.env['PAYMENT_SHRINK'] === undefined },
    );
  },
  Math.max(60_000, runs * 20_000),
);
