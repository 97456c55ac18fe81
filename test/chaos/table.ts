import type { Observation } from './client.ts';
import { type FaultScript, faultScripts } from './faults.ts';
import { type Experiment, inParallel, noneOf } from './figure.ts';
import { fits, type Lane, lanes, modelOf, openChaosFixture } from './fixture.ts';
import {
  describeAttempts,
  describeRecord,
  describeObservation,
  isSpliced,
  findMistake,
  recordsOf,
  type RequestRecord,
} from './records.ts';

interface Cell {
  readonly fault: FaultScript;
  readonly lane: Lane;
  readonly isStream: boolean;
}

interface Line {
  readonly cell: Cell;
  readonly words: readonly [observed: string, record: string, attempts: string];
  readonly mistake: string | undefined;
}

/** Each fault as clients of every format see it, and as it is recorded. */
export const table: Experiment = {
  name: 'table',
  description: 'what clients saw and records say of each fault, in each format, whole and streamed',
  async run({ postgres, print }) {
    await using fixture = await openChaosFixture(postgres);
    const gateway = await fixture.serve();
    const client = fixture.client(gateway);
    const cells = allCells();
    const seen = await inParallel(cells.length, 24, async (index) => {
      const { fault, lane, isStream } = cells[index] as Cell;
      return client.ask({ format: lane.client, isStream, model: modelOf(fault, lane) });
    });
    const records = await recordsOf(fixture.home.database, seen);
    const lines = cells.map((cell, index): Line => {
      const observed = seen[index] as Observation;
      const [record] = records.get(observed.serial) ?? [];
      return {
        cell,
        words: [
          describeObservation(observed),
          record === undefined ? 'nothing' : describeRecord(record),
          attemptsOf(record),
        ],
        mistake: promiseBroken(cell.fault, observed) ?? findMistake(observed, records.get(observed.serial)),
      };
    });
    printTable(lines, print);
    const mistakes = lines.filter(({ mistake }) => mistake !== undefined);
    return [
      noneOf(
        'table cells that break the promise',
        lines.length,
        mistakes.map(({ cell, mistake }) => `${describeCell(cell)}: ${mistake}`),
      ),
    ];
  },
};

/** How an answer broke the promise; undefined when it kept it. */
export function promiseBroken({ moment }: FaultScript, observed: Observation): string | undefined {
  if (isSpliced(observed)) return `spliced: ${observed.text}`;
  if (observed.ending === 'complete') return undefined;
  return moment === 'after' && observed.ending === 'error' ? undefined : `saw ${describeObservation(observed)}`;
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

/** One row for all cells of a fault with the same result. */
function printTable(lines: readonly Line[], print: (line: string) => void): void {
  print('| Fault | Lanes | Client received | Record | Attempts | |');
  print('|---|---|---|---|---|---|');
  for (const [, same] of Map.groupBy(lines, ({ cell, words }) => [cell.fault.name, ...words].join('|'))) {
    const [{ cell, words, mistake }] = same as [Line];
    const [observed, record, attempts] = words;
    const formats = describeFormats(same.map((line) => line.cell));
    print(
      `| ${cell.fault.name} | ${formats} | ${observed} | ${record} | ${attempts} | ${mistake === undefined ? 'ok' : 'WRONG'} |`,
    );
  }
}

function attemptsOf(record: RequestRecord | undefined): string {
  return record === undefined ? '' : describeAttempts(record);
}

function describeFormats(cells: readonly Cell[]): string {
  const both = Map.groupBy(cells, ({ lane }) => describeLane(lane));
  const kinds = Map.groupBy(both, ([, own]) =>
    own.map(({ isStream }) => (isStream ? 'streamed' : 'whole')).join(' and '),
  );
  return [...kinds].map(([kind, own]) => `${own.map(([lane]) => lane).join(', ')}: ${kind}`).join('; ');
}

function describeLane({ client, upstream }: Lane): string {
  return client === upstream ? client : `${client} by ${upstream}`;
}

function describeCell({ fault, lane, isStream }: Cell): string {
  return `${fault.name}, ${describeLane(lane)}, ${isStream ? 'streamed' : 'whole'}`;
}
