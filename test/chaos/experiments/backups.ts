import { formatAt, readAsked } from '../answers.ts';
import type { Observation } from '../client.ts';
import { faultScripts, type Scene } from '../faults.ts';
import { type Experiment, inParallel, noneOf } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { describeAttempts, describeObservation, findMistake, recordsOf } from '../records.ts';

const concurrency = 48;

/** The first route accepts requests and never answers; the backup serves, and the first attempt must be cancelled. */
export const hedged: Experiment = {
  name: 'hedged',
  description: 'the first route never answers, and the model has hedge_after',
  async run({ postgres, isShort }) {
    const plays = { stalling: () => undefined };
    await using fixture = await openChaosFixture(postgres, { plays, models: { stalling: 'hedge_after: 0.3' } });
    const client = fixture.client(await fixture.serve());
    const seen = await inParallel(isShort ? 24 : 500, concurrency, (index) =>
      client.ask({ format: formatAt(index), isStream: index % 8 < 4, model: 'stalling' }),
    );
    const records = await recordsOf(fixture.home.database, seen);
    const losers = fixture.upstream.requests.filter((request) => readAsked(request).model === 'stalling');
    const endings = await Promise.all(losers.map(({ closed }) => closed));
    const mistakes = seen
      .map((observed) => findMistake(observed, records.get(observed.serial)))
      .filter((mistake) => mistake !== undefined);
    return [
      noneOf('lost while the first route never answered', seen.length, seen.filter(isLost).map(describeObservation)),
      noneOf(
        'first routes that were not cancelled',
        losers.length,
        endings.filter((ending) => ending !== 'client left'),
      ),
      noneOf('records missing, duplicated or wrong', seen.length, mistakes),
    ];
  },
};

/** The first route breaks off within its text; the backup must continue it, and the client sees one answer. */
export const resumed: Experiment = {
  name: 'resumed',
  description: 'every stream breaks off within its text, and the model has resume',
  async run({ postgres, isShort }) {
    const plays = { breaking: breakOff };
    await using fixture = await openChaosFixture(postgres, { plays, models: { breaking: 'resume: true' } });
    const client = fixture.client(await fixture.serve());
    const seen = await inParallel(isShort ? 24 : 500, concurrency, (index) =>
      client.ask({ format: formatAt(index), isStream: true, model: 'breaking' }),
    );
    const records = await recordsOf(fixture.home.database, seen);
    const described = seen.map((observed) => ({
      ...observed,
      told: (records.get(observed.serial) ?? [])
        .map((record) => `${record.outcome}: ${describeAttempts(record)}`)
        .join('; '),
    }));
    // Where the first connection took long, the backup was asked as well and may have been faster.
    const broken = described.filter(({ told }) => told !== overtaken);
    const others = described.filter(({ told }) => told === overtaken);
    return [
      noneOf('broken texts that were not continued', broken.length, broken.filter(isLost).map(describeObservation)),
      noneOf('answers that are not the text of the first route and then of the second, or of the second', seen.length, [
        ...broken.filter(({ text }) => sourcesOf(text) !== 'breaking then fine').map(({ text }) => text),
        ...others.filter(({ text }) => sourcesOf(text) !== 'fine').map(({ text }) => text),
      ]),
      noneOf(
        'records missing, duplicated or wrong',
        seen.length,
        broken.map(({ told }) => told).filter((told) => !continued.test(told)),
      ),
    ];
  },
};

/** What records say: with a stopped attempt where the backup was asked before the first route answered. */
const continued = /^answered: faulty\/breaking failed, (backup\/fine aborted, )?backup\/fine served$/;
const overtaken = 'answered: faulty/breaking aborted, backup/fine served';

const breakOff = (scene: Scene) => faultScripts.find(({ name }) => name === 'cut')?.play?.(scene);

const isLost = ({ ending }: Observation) => ending !== 'complete';

/** `breaking-7.0 breaking-7.1 fine-8.0 …`: every word names its answer and its position there. */
function sourcesOf(text: string): string {
  const words = [...text.matchAll(/(breaking|fine)-(\d+)\.(\d+)/g)].map(([, model, answer, place]) => ({
    source: `${model}-${answer}`,
    place: Number(place),
  }));
  const sources = [...Map.groupBy(words, ({ source }) => source)];
  const isInOrder = sources.every(([, own]) => own.every(({ place }, index) => place === index));
  return isInOrder ? sources.map(([source]) => source.split('-')[0]).join(' then ') : 'words out of order';
}
