/**
 * `npm run payments`: 10,000 orders over two gateways on one PostgreSQL, with shuffled, duplicated, delayed and forged
 * notifications and 100 kills between. Prints the promised figures, and exits with 1 when one is missed.
 *
 *     npm run payments -- --short                        180 orders and 2 kills
 *     npm run payments -- --orders 1000 --kills 10       another size
 */
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/global-postgres.ts';
import { paymentSoak, soakOf } from './soak.ts';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    orders: { type: 'string' },
    kills: { type: 'string', default: '10' },
  },
});
const experiment =
  values.orders === undefined ? paymentSoak : soakOf(sizeOf(Number(values.orders), Number(values.kills)));

await using postgres = await startPostgres();
console.log(`${experiment.name}: ${experiment.description}`);
const began = performance.now();
const figures = await experiment.run({ postgres, isShort: values.short, print: (line) => console.log(line) });
for (const { name, count, seen, aim, isMet, details = [] } of figures) {
  console.log(`  ${isMet ? 'ok    ' : 'MISSED'} ${name}: ${seen} of ${count} (aim: ${aim})`);
  for (const detail of details.slice(0, 20)) console.log(`         ${detail}`);
}
const missed = figures.filter(({ isMet }) => !isMet);
console.log(
  `${figures.length - missed.length} of ${figures.length} figures met in ${((performance.now() - began) / 1000).toFixed(0)} s`,
);
process.exitCode = missed.length === 0 ? 0 : 1;

/** A tenth of the orders is made without kills: their times count. */
function sizeOf(orders: number, kills: number) {
  const calm = Math.ceil(orders / 10);
  return { calm, killed: orders - calm, kills, concurrency: 12 };
}
