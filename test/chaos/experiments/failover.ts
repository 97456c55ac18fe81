import type { Observation } from '../client.ts';
import { type FaultScript, faultScripts } from '../faults.ts';
import { type Experiment, inParallel, noneOf } from '../figure.ts';
import { fits, type Lane, lanes, modelOf, openChaosFixture } from '../fixture.ts';
import { describeObservation, isSpliced, findMistake, recordsOf, type RequestRecord } from '../records.ts';

const concurrency = 48;

/** Every request meets a fault before its first content; the backup must answer it. */
export const failover: Experiment = {
  name: 'failover',
  description: 'every request meets a fault before its first content',
  async run({ postgres, isShort }) {
    const kinds = faultScripts.filter(({ moment }) => moment === 'before');
    const { seen, spared, mistakes } = await meet(postgres, kinds, isShort ? 60 : 3_000, [false, true]);
    const lost = seen.filter(({ ending }) => ending !== 'complete');
    return [
      noneOf(
        `lost on failover before first content, over ${kinds.length} kinds of fault`,
        seen.length,
        lost.map(describe),
      ),
      noneOf('requests that did not meet their fault', seen.length, spared),
      noneOf(
        'spliced answers',
        seen.length,
        seen.filter(isSpliced).map(({ text }) => text),
      ),
      noneOf('records missing, duplicated or wrong', seen.length, mistakes),
    ];
  },
};

/** Every stream meets a fault after its first content; the client must get an explicit error. */
export const cutStreams: Experiment = {
  name: 'cut-streams',
  description: 'every stream meets a fault after its first content',
  async run({ postgres, isShort }) {
    const kinds = faultScripts.filter(({ moment }) => moment === 'after');
    const { seen, mistakes } = await meet(postgres, kinds, isShort ? 42 : 1_200, [true]);
    // A reset can overtake the content before it: then the backup has answered. And some damage is recoverable.
    const broken = seen.filter(({ ending }) => ending !== 'complete');
    const unexplained = broken.filter(({ ending }) => ending !== 'error');
    return [
      noneOf(
        `cut streams without an explicit error, over ${kinds.length} kinds of fault`,
        broken.length,
        unexplained.map(describe),
      ),
      noneOf(
        'spliced answers',
        seen.length,
        seen.filter(isSpliced).map(({ text }) => text),
      ),
      noneOf('records missing, duplicated or wrong', seen.length, mistakes),
    ];
  },
};

/** Sends requests to the models of these faults, on all lanes in turn. */
async function meet(
  postgres: Parameters<Experiment['run']>[0]['postgres'],
  kinds: readonly FaultScript[],
  count: number,
  ways: readonly boolean[],
): Promise<{ seen: Observation[]; spared: string[]; mistakes: string[] }> {
  await using fixture = await openChaosFixture(postgres);
  const client = fixture.client(await fixture.serve());
  const seen = await inParallel(count, concurrency, async (index) => {
    const fault = kinds[index % kinds.length] as FaultScript;
    const turn = Math.floor(index / kinds.length);
    const fitting = lanes.filter((lane) => fits(fault, lane));
    const lane = fitting[Math.floor(turn / ways.length) % fitting.length] as Lane;
    return client.ask({
      format: lane.client,
      isStream: ways[turn % ways.length] === true,
      model: modelOf(fault, lane),
    });
  });
  const records = await recordsOf(fixture.home.database, seen);
  const mistakes = seen.flatMap((observed) => {
    const mistake = findMistake(observed, records.get(observed.serial));
    return mistake === undefined ? [] : [`${observed.question.model} as ${observed.question.format}: ${mistake}`];
  });
  const remembered = new Set(kinds.filter(({ isRemembered }) => isRemembered).map(({ name }) => name));
  const spared = seen
    .filter(({ question }) => !remembered.has(question.model.split('@')[0] ?? ''))
    .filter(({ serial, question }) => !records.get(serial)?.some(({ attempts }) => hasMet(attempts, question.model)))
    .map(describe);
  return { seen, spared, mistakes };
}

function hasMet(attempts: RequestRecord['attempts'], model: string): boolean {
  return attempts?.some(({ route }) => route.endsWith(`/${model.split('@')[0]}`)) === true;
}

function describe(observed: Observation): string {
  const { model, format, isStream } = observed.question;
  return `${model}, ${format}, ${isStream ? 'streamed' : 'whole'}: ${describeObservation(observed)}`;
}
