import { deepStrictEqual } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { openDatabase } from '#core/platform/database/open.ts';
import { coreEntities } from '#core/process/entities.ts';
import { type Experiment, noneOf } from '../chaos/figure.ts';
import { copyDatabase, execute, withDatabase } from '../support/global-postgres.ts';
import { tablesHere } from '../support/registered.ts';
import { clockOf, pause, playSequences, step } from './sequences.ts';

/** Buyers whose sequences are played at once. */
const buyers = 20;
const log = { info: () => undefined, warn: () => undefined, error: (line: string) => console.error(line) };

/** Random business against a model: days, states, books and flags. @param count of sequences; left out: 10,000, or 200 */
export function booksOf(count?: number): Experiment {
  return {
    name: 'books',
    description: 'random payments, refunds and notifications over two instances, against a model',
    async run({ postgres, isShort, print }) {
      const runs = Math.ceil((count ?? (isShort ? 200 : 10_000)) / buyers);
      const name = `daypass_books_${randomBytes(6).toString('hex')}`;
      await using stack = new AsyncDisposableStack();
      await copyDatabase(postgres.url, postgres.templateDatabase, name);
      stack.defer(() => execute(postgres.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
      const url = withDatabase(postgres.url, name);
      await execute(url, clockOf(name));
      const options = { dataFolder: tmpdir(), log, mode: 'command', isShared: true } as const;
      const database = stack.use(
        await openDatabase({ entities: coreEntities, tables: await tablesHere(), url, ...options }),
      );
      const sequence = fc.array(step, { minLength: 12, maxLength: 24 });
      const differing: string[] = [];
      let played = 0;
      const property = fc.asyncProperty(
        fc.array(sequence, { minLength: buyers, maxLength: buyers }),
        fc.array(pause, { minLength: 5, maxLength: 24 }),
        async (sequences, pauses) => {
          await playSequences(database, sequences, pauses, (seen, expected) => deepStrictEqual(seen, expected));
          played += buyers;
          if (played % 1_000 === 0) print(`  ${played} sequences are played`);
        },
      );
      const result = await fc.check(property, { numRuns: runs, endOnFailure: true });
      if (result.failed)
        differing.push(`seed ${result.seed}, path ${result.counterexamplePath}: ${String(result.errorInstance)}`);
      return [noneOf('sequences whose days, states, books or flags differ from the model', played, differing)];
    },
  };
}
