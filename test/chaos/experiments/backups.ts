import { formatAt, readAsked } from '../answers.ts';
import type { Observation } from '../client.ts';
import { faultScripts, type Scene } from '../faults.ts';
import { type Experiment, inParallel, noneOf } from '../figure.ts';
import { describeAttempts, describeObservation, findMistake, recordsOf } from '../records.ts';
import { openChaosFixture } from '../fixture.ts';

const concurrency = 48;

/** The first route accepts requests and never answers; the backup serves, and the first attempt must be cancelled. */
export const hedged: Experiment = {
  name: 'hedged',
  description: 'the first route never answers, and the model has hedge_after',
  async run({ postgres, isShort }) {
    const plays = { stalling: () => undefined };
    await using fixture = await openChaosFixture(postgres, { plays, models: { stalling: 'hedge_after: 0.3' } });
    const client = fixture.client(await fixture.start());
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
    const client = fixture.client(await fixture.start());
    const seen = await inParallel(isShort ? 24 : 500, concurrency, (index) =>
      client.ask({ format: formatAt(index), isStream: true, model: 'breaking' }),
    );
    const records = await recordsOf(fixture.home.database, seen);
    const untrue = seen
      .map(({ serial }) =>
        (records.get(serial) ?? []).map((record) => `${record.outcome}: ${describeAttempts(record)}`),
      )
      .filter((own) => own.join() !== 'answered: faulty/breaking failed, backup/fine served');
    return [
      noneOf('broken texts that were not continued', seen.length, seen.filter(isLost).map(describeObservation)),
      noneOf(
        'answers that are not the text of the first route and then of the second',
        seen.length,
        seen.map(({ text }) => text).filter((text) => !isContinued(text)),
      ),
      noneOf(
        'records missing, duplicated or wrong',
        seen.length,
        untrue.map((own) => own.join('; ')),
      ),
    ];
  },
};

const breakOff = (scene: Scene) => faultScripts.find(({ name }) => name === 'cut')?.play?.(scene);

const isLost = ({ ending }: Observation) => ending !== 'complete';

/** `breaking-7.0 breaking-7.1 fine-8.0 …`: every word names its answer and its position there. */
function isContinued(text: string): boolean {
  const words = [...text.matchAll(/(breaking|fine)-(\d+)\.(\d+)/g)].map(([, model, answer, place]) => ({
    source: `${model}-${answer}`,
    place: Number(place),
  }));
  const sources = [...Map.groupBy(words, ({ source }) => source)];
  const isInOrder = sources.every(([, own]) => own.every(({ place }, index) => place === index));
  return isInOrder && sources.map(([source]) => source.split('-')[0]).join(' then ') === 'breaking then fine';
}
