import { formatAt } from '../answers.ts';
import type { Observation } from '../client.ts';
import type { Scene } from '../faults.ts';
import { type Experiment, type Figure, inParallel, noneOf } from '../figure.ts';
import { type ChaosFixture, openChaosFixture } from '../fixture.ts';
import { describeObservation, findMistake, recordsOf } from '../records.ts';

const concurrency = 48;
/** Seconds for all attempts of a request. */
const deadline = 4;
const dripInterval = 100; // ms

/** Numbers of the experiment with non-streaming responses only: many more, with a longer deadline. */
const slowloris = { short: 24, usual: 1_500, long: 3_000, concurrency: 150, deadline: 8 };

const stageWith = (seconds: number) =>
  `{ deadline: ${seconds}, retry_share: 1, breaker: { failures: 1000, failure_ratio: 1, minimum_calls: 100000 } }`;

/** The first route sends its answer drop by drop, so that it is never silent; the backup must serve within the deadline. */
export const dripping: Experiment = {
  name: 'dripping',
  description: 'the first route drips: whitespace, pings, single bytes of an answer',
  async run({ postgres, isShort }) {
    await using fixture = await openChaosFixture(postgres, {
      stage: stageWith(deadline),
      plays: { pings: (scene) => drip(scene, endless(scene)), bytes: (scene) => drip(scene, bytesOf(scene)) },
    });
    const client = fixture.client(await fixture.serve());
    const seen = await inParallel(isShort ? 24 : 300, concurrency, (index) =>
      client.ask({ format: formatAt(index), isStream: index % 8 < 4, model: index % 16 < 8 ? 'pings' : 'bytes' }),
    );
    return await figuresOf(fixture, 'lost while the first route dripped', seen);
  },
};

/** The same with the bytes of whole answers: the figure that is too small for `dripping` to see. */
export const slowlorisBody: Experiment = {
  name: 'slowloris-body',
  description: 'the first route sends whole answers byte by byte',
  async run({ postgres, isShort, isLong, print }) {
    const count = slowloris[isShort ? 'short' : isLong ? 'long' : 'usual'];
    await using fixture = await openChaosFixture(postgres, {
      stage: stageWith(slowloris.deadline),
      plays: { bytes: (scene) => drip(scene, bytesOf(scene)) },
    });
    const client = fixture.client(await fixture.serve());
    let answered = 0;
    const seen = await inParallel(count, slowloris.concurrency, async (index) => {
      const observed = await client.ask({ format: formatAt(index), isStream: false, model: 'bytes' });
      if (++answered % 500 === 0) print(`  ${answered} of ${count}`);
      return observed;
    });
    return await figuresOf(fixture, 'whole answers lost while the first route sent single bytes', seen);
  },
};

/** Answers that were lost, and records that are untrue. */
async function figuresOf(fixture: ChaosFixture, name: string, seen: readonly Observation[]): Promise<Figure[]> {
  const records = await recordsOf(fixture.home.database, seen);
  const lost = seen.filter(({ ending }) => ending !== 'complete');
  const mistakes = seen.flatMap((observed) => findMistake(observed, records.get(observed.serial)) ?? []);
  return [
    noneOf(name, seen.length, lost.map(describeObservation)),
    noneOf('records missing, duplicated or wrong', seen.length, mistakes),
  ];
}

/** Sends one part after the other until there is none, or the gateway has given up. */
async function drip({ response, isStream }: Scene, parts: Iterable<string>): Promise<void> {
  let isClosed = false;
  void response.closed.then(() => (isClosed = true));
  response.head(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
  for (const part of parts) {
    if (isClosed) return;
    await response.write(part);
    await new Promise((resolve) => setTimeout(resolve, dripInterval));
  }
}

function* endless({ isStream }: Scene): Iterable<string> {
  for (;;) yield isStream ? ': ping\n\n' : ' ';
}

/** The bytes of an answer, one by one: its first content would come after the deadline. */
function* bytesOf({ isStream, answer }: Scene): Iterable<string> {
  const text = isStream ? `: ${'x'.repeat(1_000)}\n\n` : JSON.stringify(answer.whole);
  yield* text;
}
