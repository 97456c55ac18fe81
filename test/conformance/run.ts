/**
 * `npm run conformance`: a whole gateway between clients and upstreams of every format, and between clients and odd
 * vendors. Plays every feature on every pair, streamed and whole, then tool loops with whole SDKs, and prints passes,
 * losses and failures. Exits with 1 when anything fails.
 *
 *     npm run conformance -- --only messages,chat,reasoning   client, upstream or vendor, feature; `*` for all
 *     npm run conformance -- --only '*,*,tool loop'           the SDKs
 *     npm run conformance -- --only '*,*,session'             sessions of twenty turns with official SDKs
 *     npm run conformance -- --write                          writes the tables into docs/conformance.md
 */
import { parseArgs } from 'node:util';
import { execute, startPostgres, withDatabase } from '../support/global-postgres.ts';
import { allCells, type Outcome, runCell } from './cell.ts';
import { openConformanceFixture } from './fixture.ts';
import { allLoops, type LoopCell, playLoops } from './loops/play-loops.ts';
import { allSessions, playSessions, type SessionCell } from './sessions/play-sessions.ts';
import { describeFailures, type Line, type PlayedCell, writePage, writeTables } from './table.ts';
import { allVendorCells, runVendorCell } from './vendors/vendor-cell.ts';
import { openVendorFixture } from './vendors/vendor-fixture.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, write: { type: 'boolean', default: false } },
});

const cells = allCells().filter(isChosen);
const vendorCells = allVendorCells().filter(isChosen);
const loops = allLoops().filter(isChosen);
const sessions = allSessions().filter(isChosen);
if (cells.length + vendorCells.length + loops.length + sessions.length === 0) {
  console.error(`--only ${values.only}: there is no such cell; write a client, an upstream and a feature, * for all`);
  process.exit(2);
}
await using postgres = await startPostgres();
const lines = await play(openConformanceFixture, cells, runCell);
const vendorLines = await play(openVendorFixture, vendorCells, runVendorCell);
const all = [...lines, ...vendorLines];
const ofLoops = loops.length === 0 ? undefined : await inDatabase((url) => playLoops(url, loops));
const ofSessions = sessions.length === 0 ? undefined : await inDatabase((url) => playSessions(url, sessions));
const failures = [...describeFailures(all), ...(ofLoops?.failures ?? []), ...(ofSessions?.failures ?? [])];
const written = all.length === 0 ? [] : [writeTables(lines, vendorLines)];
const ofSdks = [...(ofLoops?.lines ?? []), ...(ofSessions?.lines ?? [])].join('\n');
console.log([...written, ofSdks, ...failures].join('\n\n'));
console.log(
  `\n${all.length} cells, ${loops.length} of SDKs and ${sessions.length} sessions, ${failures.length} failed`,
);
if (values.write && failures.length === 0) await writePage(lines, vendorLines);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Plays cells one after the other, with a gateway and a database of their own. */
async function play<F extends AsyncDisposable, C extends PlayedCell>(
  open: (databaseUrl: string) => Promise<F>,
  played: readonly C[],
  run: (fixture: F, cell: C) => Promise<Outcome>,
): Promise<Line<C>[]> {
  if (played.length === 0) return [];
  return inDatabase(async (url) => {
    const found: Line<C>[] = [];
    await using fixture = await open(url);
    for (const cell of played) found.push({ cell, outcome: await run(fixture, cell) });
    return found;
  });
}

async function inDatabase<T>(use: (databaseUrl: string) => Promise<T>): Promise<T> {
  await execute(postgres.url, `CREATE DATABASE daypass_conformance TEMPLATE ${postgres.templateDatabase}`);
  const result = await use(withDatabase(postgres.url, 'daypass_conformance'));
  await execute(postgres.url, 'DROP DATABASE daypass_conformance WITH (FORCE)');
  return result;
}

function isChosen({ client, upstream, feature }: PlayedCell | LoopCell | SessionCell): boolean {
  const wanted = values.only === '' ? [] : values.only.split(',');
  return [client, upstream, feature].every((name, index) => [undefined, '*', name].includes(wanted[index]));
}
