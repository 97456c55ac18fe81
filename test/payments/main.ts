/**
 * `npm run payments`: 10,000 orders over two gateways on one PostgreSQL, with shuffled, duplicated, delayed and forged
 * notifications, 100 kills and 10 restarts of PostgreSQL between; then 240 buyers within 20 seconds. Prints the promised
 * figures, and exits with 1 when one is missed.
 *
 * Then 10,000 random sequences of payments, refunds and notifications, against a model.
 *
 *     npm run payments -- --short                        90 orders, 2 kills and a restart, 200 sequences, 120 buyers within 10 seconds
 *     npm run payments -- --orders 10000 --kills 57      only the orders, as many, in 20 minutes on two idle cores
 *     npm run payments -- --sequences 10000              only the sequences
 *     npm run payments -- --bursts                       only the buyers
 *     npm run payments -- --bursts --long                besides, 2,000 buyers within ten minutes: 23 minutes in all
 *     npm run payments -- --bursts --long --short        120 buyers within 10 seconds, then a minute of the 2,000
 */
import { parseArgs } from 'node:util';
import type { Experiment, Figure } from '../chaos/figure.ts';
import { startPostgres } from '../support/global-postgres.ts';
import { booksOf } from './books.ts';
import { paymentBursts } from './bursts.ts';
import { paymentSoak, soakOf } from './soak.ts';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    orders: { type: 'string' },
    kills: { type: 'string', default: '10' },
    sequences: { type: 'string' },
    bursts: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
  },
});
const bursts = paymentBursts(values.long);
const experiments = values.bursts ? [bursts] : (chosenByCount() ?? [paymentSoak, booksOf(), bursts]);

await using postgres = await startPostgres();
const began = performance.now();
const figures: Figure[] = [];
for (const experiment of experiments) {
  console.log(`${experiment.name}: ${experiment.description}`);
  const context = { postgres, isShort: values.short, print: (line: string) => console.log(line) };
  figures.push(...(await experiment.run(context)));
}
for (const { name, count, seen, aim, isMet, details = [] } of figures) {
  console.log(`  ${isMet ? 'ok    ' : 'MISSED'} ${name}: ${seen} of ${count} (aim: ${aim})`);
  for (const detail of details.slice(0, 20)) console.log(`         ${detail}`);
}
const missed = figures.filter(({ isMet }) => !isMet);
console.log(
  `${figures.length - missed.length} of ${figures.length} figures met in ${((performance.now() - began) / 1000).toFixed(0)} s`,
);
process.exitCode = missed.length === 0 ? 0 : 1;

function chosenByCount(): Experiment[] | undefined {
  if (values.orders !== undefined) return [soakOf(sizeOf(Number(values.orders), Number(values.kills)))];
  return values.sequences === undefined ? undefined : [booksOf(Number(values.sequences))];
}

/** A tenth of the orders is made without kills: their times count. */
function sizeOf(orders: number, kills: number) {
  const calm = Math.ceil(orders / 10);
  return { calm, killed: orders - calm, kills, concurrency: 12 };
}
