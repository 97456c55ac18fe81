/**
 * `npm run conformance`: a whole gateway between clients and upstreams of every format, and between clients and odd
 * vendors. Plays every feature on every pair, streamed and whole, and prints passes, losses and failures. Exits with 1
 * when anything fails.
 *
 *     npm run conformance -- --only messages,chat,reasoning   client, upstream or vendor, feature; `*` for all
 *     npm run conformance -- --write                          writes the tables into docs/conformance.md
 */
import { parseArgs } from 'node:util';
import { execute, startPostgres, withDatabase } from '../support/global-postgres.ts';
import { allCells, type Outcome, runCell } from './cell.ts';
import { openConformanceFixture } from './fixture.ts';
import { describeFailures, type Line, type PlayedCell, writePage, writeTables } from './table.ts';
import { allVendorCells, runVendorCell } from './vendors/vendor-cell.ts';
import { openVendorFixture } from './vendors/vendor-fixture.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, write: { type: 'boolean', default: false } },
});

const cells = allCells().filter(isChosen);
const vendorCells = allVendorCells().filter(isChosen);
if (cells.length + vendorCells.length === 0) {
  console.error(`--only ${values.only}: there is no such cell; write a client, an upstream and a feature, * for all`);
  process.exit(2);
}
await using postgres = await startPostgres();
const lines = await play(openConformanceFixture, cells, runCell);
const vendorLines = await play(openVendorFixture, vendorCells, runVendorCell);
const all = [...lines, ...vendorLines];
const failures = describeFailures(all);
console.log([writeTables(lines, vendorLines), ...failures].join('\n\n'));
console.log(`\n${all.length} cells, ${failures.length} failed`);
if (values.write && failures.length === 0) await writePage(lines, vendorLines);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Plays cells one after the other, with a gateway and a database of their own. */
async function play<F extends AsyncDisposable, C extends PlayedCell>(
  open: (databaseUrl: string) => Promise<F>,
  played: readonly C[],
  run: (fixture: F, cell: C) => Promise<Outcome>,
): Promise<Line<C>[]> {
  if (played.length === 0) return [];
  await execute(postgres.url, `CREATE DATABASE daypass_conformance TEMPLATE ${postgres.templateDatabase}`);
  const found: Line<C>[] = [];
  {
    await using fixture = await open(withDatabase(postgres.url, 'daypass_conformance'));
    for (const cell of played) found.push({ cell, outcome: await run(fixture, cell) });
  }
  await execute(postgres.url, 'DROP DATABASE daypass_conformance WITH (FORCE)');
  return found;
}

function isChosen({ client, upstream, feature }: PlayedCell): boolean {
  const wanted = values.only === '' ? [] : values.only.split(',');
  return [client, upstream, feature].every((name, index) => [undefined, '*', name].includes(wanted[index]));
}
