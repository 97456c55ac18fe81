import { textFormats } from '../support/formats.ts';
import { type CacheFixture, openCacheFixture, vendorKinds } from './fixture.ts';
import { type Cell, nativeOf, play, type Played } from './play.ts';

/** Points of cached share that the gateway may lose. */
const margin = 0.02;
/** The turn at which the first route of a model is down, for one turn. */
const failingTurn = 12;

export interface Result {
  readonly cell: Cell;
  readonly direct: Played;
  readonly through: Played;
}

/** One cell after the other. @param only client and vendor, `*` for all */
export async function playAll(databaseUrl: string, only = ''): Promise<Result[]> {
  await using fixture = await openCacheFixture(databaseUrl);
  const [client = '*', vendor = '*'] = only === '' ? [] : only.split(',');
  const results: Result[] = [];
  for (const cell of allCells())
    if ([cell.client, '*'].includes(client) && [cell.vendor, '*'].includes(vendor))
      results.push(await playCell(fixture, cell));
  return results;
}

export function allCells(): Cell[] {
  return textFormats.flatMap((client) =>
    vendorKinds.flatMap((vendor) =>
      (['one', 'three', 'backup'] as const).flatMap((layout) =>
        [true, false].map((hasSession): Cell => ({ client, vendor, layout, hasSession })),
      ),
    ),
  );
}

export async function playCell(fixture: CacheFixture, cell: Cell): Promise<Result> {
  const native = { ...cell, client: nativeOf(cell) };
  const direct = await play(fixture, native, { isDirect: true });
  const before = (turn: number) => (fixture.down = turn === failingTurn ? 'a' : undefined);
  const through = await play(fixture, cell, cell.layout === 'backup' ? { before } : {});
  return { cell, direct, through };
}

/** A line for each cell, and what misses its aim. */
export function describeResults(results: readonly Result[]): { lines: string[]; failures: string[] } {
  const failures = results.flatMap((result) => faultsOf(result).map((fault) => `${nameOf(result.cell)}: ${fault}`));
  const lines = results.map(
    ({ cell, direct, through }) =>
      `${nameOf(cell).padEnd(44)} ${percent(direct.share)} direct, ${percent(through.share)} through, ${through.coldTurns.length} cold turns (${direct.coldTurns.length} direct)`,
  );
  return { lines, failures };
}

/** What a cell misses. */
export function faultsOf({ cell, direct, through }: Result): string[] {
  const faults = through.changes.slice(0, 3).map((change) => `the stable prefix changes: ${change}`);
  const lost = direct.share - through.share;
  if (cell.layout === 'backup') {
    // Each conversation moves once.
    const cold = through.coldTurns.length - direct.coldTurns.length;
    if (cold > 2)
      faults.push(`${cold} cold turns after a failover of 2 conversations: ${through.coldTurns.join(', ')}`);
    if (through.places.length > 4) faults.push(`conversations move again: ${through.places.join(', ')}`);
  } else {
    if (lost > margin) faults.push(`the cached share is ${percent(through.share)}, direct ${percent(direct.share)}`);
    if (through.places.length > 2) faults.push(`conversations move: ${through.places.join(', ')}`);
  }
  return faults;
}

function nameOf({ client, vendor, layout, hasSession }: Cell): string {
  return `${client} on ${vendor}, ${layout}, ${hasSession ? 'with a session' : 'without a session'}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
