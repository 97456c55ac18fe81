/**
 * `npm run conformance`: a whole gateway between clients and upstreams of every format. Plays every feature on every
 * pair, streamed and whole, and prints passes, losses and failures. Exits with 1 when anything fails.
 *
 *     npm run conformance -- --only messages,chat,reasoning   client, upstream and feature; `*` for all
 *     npm run conformance -- --write                          writes the table into docs/conformance.md
 */
import { parseArgs } from 'node:util';
import { execute, startPostgres, withDatabase } from '../support/global-postgres.ts';
import { allCells, type Cell, runCell } from './cell.ts';
import { openConformanceFixture } from './fixture.ts';
import { type Line, describeFailures, writePage, writeTable } from './table.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, write: { type: 'boolean', default: false } },
});

const cells = allCells().filter(isChosen);
if (cells.length === 0) {
  console.error(`--only ${values.only}: there is no such cell; write a client, an upstream and a feature, * for all`);
  process.exit(2);
}
await using postgres = await startPostgres();
await execute(postgres.url, `CREATE DATABASE daypass_conformance TEMPLATE ${postgres.templateDatabase}`);
const lines: Line[] = [];
{
  await using fixture = await openConformanceFixture(withDatabase(postgres.url, 'daypass_conformance'));
  for (const cell of cells) lines.push({ cell, outcome: await runCell(fixture, cell) });
}
await execute(postgres.url, 'DROP DATABASE daypass_conformance WITH (FORCE)');
const failures = describeFailures(lines);
console.log([writeTable(lines), ...failures].join('\n\n'));
console.log(`\n${lines.length} cells, ${failures.length} failed`);
if (values.write && failures.length === 0) await writePage(lines);
process.exitCode = failures.length === 0 ? 0 : 1;

function isChosen({ client, upstream, feature }: Cell): boolean {
  const wanted = values.only === '' ? [] : values.only.split(',');
  return [client, upstream, feature].every((name, index) => [undefined, '*', name].includes(wanted[index]));
}
