import { formatAt, readAsked } from '../answers.ts';
import type { Saw } from '../client.ts';
import { faultScripts, type Scene } from '../faults.ts';
import { type Experiment, inParallel, noneOf } from '../figure.ts';
import { describeAttempts, describeSaw, judge, recordsOf } from '../records.ts';
import { openChaosFixture } from '../fixture.ts';

const concurrency = 48;

/** The first route takes requests and never answers; the backup is asked as well, and the first has to be let go. */
export const hedged: Experiment = {
  name: 'hedged',
  description: 'the first route never answers, and the model says hedge_after',
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
    const mistakes = seen.map((saw) => judge(saw, records.get(saw.serial))).filter((mistake) => mistake !== undefined);
    return [
      noneOf('lost while the first route never answered', seen.length, seen.filter(isLost).map(describeSaw)),
      noneOf(
        'first routes that were not let go',
        losers.length,
        endings.filter((ending) => ending !== 'client left'),
      ),
      noneOf('records missing, duplicated or untrue', seen.length, mistakes),
    ];
  },
};

/** The first route breaks off within its text; the backup has to go on with it, and the client sees one answer. */
export const resumed: Experiment = {
  name: 'resumed',
  description: 'every stream breaks off within its text, and the model says resume',
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
      noneOf('broken texts that nobody went on with', seen.length, seen.filter(isLost).map(describeSaw)),
      noneOf(
        'answers that are not the words of the first and then those of the second',
        seen.length,
        seen.map(({ text }) => text).filter((text) => !isContinued(text)),
      ),
      noneOf(
        'records missing, duplicated or untrue',
        seen.length,
        untrue.map((own) => own.join('; ')),
      ),
    ];
  },
};

const breakOff = (scene: Scene) => faultScripts.find(({ name }) => name === 'cut')?.play?.(scene);

const isLost = ({ ending }: Saw) => ending !== 'complete';

/** `breaking-7.0 breaking-7.1 fine-8.0 …`: every word says which answer it is of, and its place there. */
function isContinued(text: string): boolean {
  const words = [...text.matchAll(/(breaking|fine)-(\d+)\.(\d+)/g)].map(([, model, answer, place]) => ({
    source: `${model}-${answer}`,
    place: Number(place),
  }));
  const sources = [...Map.groupBy(words, ({ source }) => source)];
  const isInOrder = sources.every(([, own]) => own.every(({ place }, index) => place === index));
  return isInOrder && sources.map(([source]) => source.split('-')[0]).join(' then ') === 'breaking then fine';
}
