/**
 * `npm run month`: a month of a shop with 2,000 accounts. Time jumps from event to event. At the end, what the product has in
 * PostgreSQL is compared with a model that shares no code with it; the exit code is 1 when anything differs.
 *
 *     npm run month                                  2,000 accounts, 30 days
 *     npm run month -- --short                       200 accounts, 7 days: the smoke form
 *     npm run month -- --seed 7                      another month
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { clockOf } from '../payments/sequences.ts';
import { copyDatabase, execute, startPostgres, withDatabase } from '../support/global-postgres.ts';
import { compareAll } from './compare.ts';
import { describeDay, describeNotice } from './figures.ts';
import { Month } from './play.ts';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    accounts: { type: 'string' },
    days: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});

function numberOf(name: 'accounts' | 'days' | 'seed', usual: number, least: number, most: number): number {
  const value = Number(values[name] ?? usual);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`--${name} must be a whole number from ${least} to ${most}, not ${values[name]}`);
}

const size = {
  accounts: numberOf('accounts', values.short ? 200 : 2_000, 20, 20_000),
  days: numberOf('days', values.short ? 7 : 30, 3, 120),
  seed: numberOf('seed', 1, 0, 1e9),
};
const shown = 12; // differences of each kind

const began = performance.now();
const sinceBegun = () => (performance.now() - began) / 1000;
await using stack = new AsyncDisposableStack();
const postgres = stack.use(await startPostgres());
const name = `daypass_month_${randomBytes(6).toString('hex')}`;
await copyDatabase(postgres.url, postgres.templateDatabase, name);
stack.defer(() => execute(postgres.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
const url = withDatabase(postgres.url, name);
await execute(url, clockOf(name));

console.log(`a month of ${size.accounts} accounts and ${size.days} days, seed ${size.seed}
  real: PostgreSQL, orders, settlement, refunds, vouchers, gifts, places and waiting list, incidents, outages and their credit, usage,
    margins, alerts to a webhook, history, rollback and canary of gateway.yaml, probes over HTTP with the stages format and upstream, the fair queue of one process
  simulated: the time, customers, bank and vendors; customers' requests to the model \`main\`, which are written as records without being sent (those
    of a peak pass the queue first; conversations with other vendors are sent); jobs run when something can be due for them, the one that reserves places every 15 minutes instead of every 15 seconds`);
const month = await Month.open(url, size);
stack.use(month.world);
await month.play(async (day) =>
  console.log(`  day ${day} of ${size.days}, ${sinceBegun().toFixed(0)} s: ${await describeDay(month)}`),
);
const played = sinceBegun();
const compared = [
  {
    name: 'what happened on the way: orders, codes, access, places',
    count: month.counts.events,
    differences: month.differences,
  },
  ...(await compareAll(month)),
];

const { model, counts } = month;
const late = model.sold.filter(({ order }) => order.isLate).length;
console.log(`
  ${counts.events} events in ${played.toFixed(0)} s, ${Math.round((size.days * 86_400) / played)} × as fast as time
  ${model.sold.length} orders (${late} paid late, ${model.refused} refused), ${model.money.length} movements of money, ${counts.requests} requests
  ${model.sold.flatMap(({ order }) => order.refunds).length} refunds: ${model.refundsRead.later} confirmed hours later, ${model.refundsRead.onAnotherDay} of them read on another day than the bank's, ${model.pendingRefunds.size} pending at the end
  ${model.vouchers.filter(({ account }) => account !== undefined).length} vouchers and ${model.sold.filter(({ order }) => order.gift?.redeemer !== undefined).length} of ${model.sold.filter(({ order }) => order.gift !== undefined).length} gifts redeemed, ${model.waits.length} waits with ${model.reservations} reservations
  most places ${counts.mostPlaces}, full at midnight on ${counts.fullDays} of ${counts.placeChecks} days; ${model.outages.length} outages, ${model.credits.length} credits; 2 bad changes taken back by command, 1 by itself after ${month.canaryEnd?.requests} requests; ${model.alerts.length} alerts
  at a peak, the slowest request beside those of a heavy account took ${counts.slowestAtPeak} ms
  conversations with vendors that cache prompts, ${counts.talked} calls:
${month.world.vendors
  .describe()
  .map((line) => `    ${line}`)
  .join('\n')}
  alerts about vendors:
${month.world.vendors
  .notices(month.world.alerts)
  .map((notice) => `    ${describeNotice(notice)}`)
  .join('\n')}
`);
for (const { name: what, count, differences } of compared) {
  console.log(
    `  ${differences.length === 0 ? 'equal ' : 'DIFFER'} ${what}: ${differences.length} differences in ${count}`,
  );
  for (const difference of differences.slice(0, shown)) console.log(`         ${difference}`);
}
const different = compared.filter(({ count, differences }) => differences.length > 0 || count === 0);
for (const { name: what } of different.filter(({ count }) => count === 0))
  console.log(`  nothing was compared: ${what}`);
process.exitCode = different.length === 0 ? 0 : 1;
