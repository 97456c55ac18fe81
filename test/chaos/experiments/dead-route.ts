import type { ExperimentContext, Experiment, Figure } from '../figure.ts';
import { inParallel, noneOf } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { describeObservation, isSpliced, type RecordedAttempt, recordsOf } from '../records.ts';

const maxDelayed = 20;
/** Ms after which requests try the next route while connections are not completed. */
const hurried = 300;

/** The first route of a model is dead, with default settings: how many requests wait for it. */
export const deadRoute: Experiment = {
  name: 'dead-route',
  description: 'a route swallows connections; breaker and budget have their defaults',
  run: async (context) => [
    ...(await meetDeadRoute(context, 16, context.isShort ? 200 : 4_000)),
    ...(await meetDeadRoute(context, 128, context.isShort ? 200 : 4_000)),
  ],
};

/** A route dies with many requests in flight. */
export const burst: Experiment = {
  name: 'burst',
  description: 'a route dies with many requests in flight; breaker and budget have their defaults',
  async run({ postgres, isShort }) {
    const size = isShort ? 40 : 300;
    let waiting: (() => void)[] = [];
    let isDead = false;
    const dies = Promise.withResolvers<void>();
    await using fixture = await openChaosFixture(postgres, {
      stage: '{}',
      plays: {
        dying: async ({ response }) => {
          if (isDead) return response.reset();
          await new Promise<void>((resolve) => {
            waiting.push(resolve);
            if (waiting.length === size) dies.resolve();
          });
          response.reset();
        },
      },
    });
    const client = fixture.client(await fixture.serve());
    const asked = inParallel(size, size, async () => client.ask({ format: 'chat', isStream: true, model: 'dying' }));
    await dies.promise;
    isDead = true;
    for (const end of waiting) end();
    waiting = [];
    const seen = await asked;
    const lost = seen.filter(({ ending }) => ending !== 'complete');
    return [
      noneOf(`lost of ${size} requests that were on a route when it died`, seen.length, lost.map(describeObservation)),
      noneOf(
        'spliced answers',
        seen.length,
        seen.filter(isSpliced).map(({ text }) => text),
      ),
    ];
  },
};

async function meetDeadRoute({ postgres }: ExperimentContext, clients: number, count: number): Promise<Figure[]> {
  await using fixture = await openChaosFixture(postgres, { stage: '{}' });
  const client = fixture.client(await fixture.serve());
  const seen = await inParallel(count, clients, async (index) =>
    client.ask({ format: 'chat', isStream: index % 2 === 0, model: 'dead-route' }),
  );
  const records = await recordsOf(fixture.home.database, seen);
  const lost = seen.filter(({ ending }) => ending !== 'complete');
  // A failed attempt there has waited for the whole connect timeout; one that was overtaken is recorded as aborted.
  const delayed = seen.filter(({ serial }) =>
    records.get(serial)?.some(({ attempts }) => attempts?.some(isTimedOutConnect) === true),
  );
  return [
    noneOf(`lost to a dead route with ${clients} clients`, seen.length, lost.map(describeObservation)),
    {
      name: `requests delayed by the connect timeout of a dead route, with ${clients} clients`,
      count: seen.length,
      seen: String(delayed.length),
      aim: `at most ${maxDelayed}`,
      isMet: delayed.length <= maxDelayed,
      isTimed: true,
      limit: { ms: hurried, of: 'elapsed' },
    },
  ];
}

function isTimedOutConnect({ route, outcome }: RecordedAttempt): boolean {
  return route.startsWith('black-hole/') && outcome === 'failed';
}
