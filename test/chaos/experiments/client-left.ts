import type { RecordedRequest } from '../../support/faulty-upstream.ts';
import { formatAt } from '../answers.ts';
import { playOpen, type Scene } from '../faults.ts';
import { type Experiment, type Figure, inParallel, noneOf } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { describeObservation, findMistake, recordsOf } from '../records.ts';

const longestWait = 1_000; // ms

/** Clients leave before and during an answer: all work for them stops. */
export const clientLeft: Experiment = {
  name: 'client-left',
  description: 'clients leave while they wait, and while they read',
  async run({ postgres, isShort, isLong }) {
    /** When upstreams saw the connection close. */
    const closings: { at: number; ending: string }[] = [];
    let arrived = Promise.withResolvers<void>();
    const watch = (request: RecordedRequest) => {
      void request.closed.then((ending) => closings.push({ at: performance.now(), ending }));
      arrived.resolve();
    };
    await using fixture = await openChaosFixture(postgres, {
      plays: {
        'never-answers': (_scene: Scene, request) => watch(request),
        'stays-open': async (scene, request) => {
          watch(request);
          await playOpen(scene);
        },
      },
    });
    const client = fixture.client(await fixture.serve());
    const count = isShort ? 24 : isLong ? 1_000 : 500;
    // One at a time, so that a closing belongs to the client that has just left.
    const waits: number[] = [];
    const seen = await inParallel(count, 1, async (index) => {
      const format = formatAt(index);
      const isReading = index % 2 === 1;
      arrived = Promise.withResolvers();
      const leave = isReading ? ('at content' as const) : arrived.promise;
      const before = closings.length;
      const observed = await client.ask({
        format,
        isStream: isReading || index % 4 === 0,
        model: isReading ? 'stays-open' : 'never-answers',
        leave,
      });
      while (closings.length === before && performance.now() - observed.endedAt < 10 * longestWait) {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      waits.push((closings[before]?.at ?? Number.POSITIVE_INFINITY) - observed.endedAt);
      return observed;
    });
    const records = await recordsOf(fixture.home.database, seen);
    const mistakes = seen.flatMap((observed) => findMistake(observed, records.get(observed.serial)) ?? []);
    const others = seen.filter(({ ending }) => ending !== 'left').map(describeObservation);
    return [
      timelyFigure(waits),
      noneOf('upstream requests that continued', closings.length, unclosed(closings)),
      noneOf('clients that did not leave', seen.length, others),
      noneOf('records missing, duplicated or wrong', seen.length, mistakes),
    ];
  },
};

function timelyFigure(waits: readonly number[]): Figure {
  const timely = waits.filter((wait) => wait < longestWait).length;
  const longest = Math.max(0, ...waits).toFixed(0);
  return {
    name: 'upstream closed within 1 s after the client left',
    count: waits.length,
    seen: `${timely}, the latest after ${longest} ms`,
    aim: 'all',
    isMet: timely === waits.length,
    isTimed: true,
    limit: { ms: longestWait, of: 'elapsed' },
  };
}

function unclosed(closings: readonly { ending: string }[]): string[] {
  return closings.map(({ ending }) => ending).filter((ending) => ending !== 'client left');
}
