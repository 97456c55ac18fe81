import type { Saw } from './client.ts';
import { type FaultScript, faultScripts } from './faults.ts';
import { type Experiment, inParallel, noneOf } from './figure.ts';
import {
  describeAttempts,
  describeRecord,
  describeSaw,
  isSpliced,
  judge,
  recordsOf,
  type RequestRecord,
} from './records.ts';
import { fits, type Lane, lanes, modelOf, openChaosFixture } from './fixture.ts';

interface Cell {
  readonly fault: FaultScript;
  readonly lane: Lane;
  readonly isStream: boolean;
}

interface Line {
  readonly cell: Cell;
  readonly words: readonly [saw: string, record: string, attempts: string];
  readonly mistake: string | undefined;
}

/** What each fault looks like from outside: to clients of every format, and in the record. */
export const table: Experiment = {
  name: 'table',
  description: 'fault × format × streamed or not: client saw, record says, attempts',
  async run({ postgres, print }) {
    await using fixture = await openChaosFixture(postgres);
    const gateway = await fixture.start();
    const client = fixture.client(gateway);
    const cells = allCells();
    const seen = await inParallel(cells.length, 24, async (index) => {
      const { fault, lane, isStream } = cells[index] as Cell;
      return client.ask({ format: lane.client, isStream, model: modelOf(fault, lane) });
    });
    const records = await recordsOf(fixture.home.database, seen);
    const lines = cells.map((cell, index): Line => {
      const saw = seen[index] as Saw;
      const [record] = records.get(saw.serial) ?? [];
      return {
        cell,
        words: [describeSaw(saw), record === undefined ? 'nothing' : describeRecord(record), attemptsOf(record)],
        mistake: promiseBroken(cell.fault, saw) ?? judge(saw, records.get(saw.serial)),
      };
    });
    printTable(lines, print);
    const mistakes = lines.filter(({ mistake }) => mistake !== undefined);
    return [
      noneOf(
        'cells of the table that are not as promised',
        lines.length,
        mistakes.map(({ cell, mistake }) => `${describeCell(cell)}: ${mistake}`),
      ),
    ];
  },
};

/** What a client was promised and did not get, in words. */
export function promiseBroken({ moment }: FaultScript, saw: Saw): string | undefined {
  if (isSpliced(saw)) return `spliced: ${saw.text}`;
  if (saw.ending === 'complete') return undefined;
  return moment === 'after' && saw.ending === 'told' ? undefined : `saw ${describeSaw(saw)}`;
}

function allCells(): Cell[] {
  return faultScripts.flatMap((fault) =>
    lanes
      .filter((lane) => fits(fault, lane))
      .flatMap((lane) =>
        (fault.moment === 'after' ? [true] : [false, true]).map((isStream) => ({ fault, lane, isStream })),
      ),
  );
}

/** One line for all cells of a fault that look the same. */
function printTable(lines: readonly Line[], print: (line: string) => void): void {
  print('| fault | formats | client saw | record says | attempts | |');
  print('|---|---|---|---|---|---|');
  for (const [, same] of Map.groupBy(lines, ({ cell, words }) => [cell.fault.name, ...words].join('|'))) {
    const [{ cell, words, mistake }] = same as [Line];
    const [saw, record, attempts] = words;
    const formats = describeFormats(same.map((line) => line.cell));
    print(
      `| ${cell.fault.name} | ${formats} | ${saw} | ${record} | ${attempts} | ${mistake === undefined ? 'ok' : 'WRONG'} |`,
    );
  }
}

function attemptsOf(record: RequestRecord | undefined): string {
  return record === undefined ? '' : describeAttempts(record);
}

function describeFormats(cells: readonly Cell[]): string {
  const both = Map.groupBy(cells, ({ lane }) => describeLane(lane));
  const kinds = Map.groupBy(both, ([, own]) =>
    own.map(({ isStream }) => (isStream ? 'streamed' : 'plain')).join(' and '),
  );
  return [...kinds].map(([kind, own]) => `${own.map(([lane]) => lane).join(', ')}: ${kind}`).join('; ');
}

function describeLane({ client, upstream }: Lane): string {
  return client === upstream ? client : `${client} by ${upstream}`;
}

function describeCell({ fault, lane, isStream }: Cell): string {
  return `${fault.name}, ${describeLane(lane)}, ${isStream ? 'streamed' : 'plain'}`;
}
