import { finish, playOpen } from '../faults.ts';
import { type Experiment, inParallel, noneOf } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { describeObservation } from '../records.ts';
import { until } from '../until.ts';

const openFiles = 256;
const clients = 400;
/** `ulimit -n` before Node, which raises it as far as it may. */
const launcher = ['sh', '-c', `ulimit -n ${openFiles} && exec "$0" core/main.mjs "$@"`, process.execPath];

interface Readiness {
  readonly checks: readonly { readonly name: string; readonly ok: boolean }[];
  readonly routes: readonly { readonly route: string; readonly state: string }[];
}

/** More clients at once than the process may have descriptors. */
export const descriptors: Experiment = {
  name: 'descriptors',
  description: `${clients} streams at once in a process that may open ${openFiles} files`,
  async run({ postgres, isShort }) {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    await using fixture = await openChaosFixture(postgres, {
      plays: {
        gated: async (scene) => {
          await playOpen(scene);
          running++;
          await gate.promise;
          await finish(scene);
        },
      },
    });
    const gateway = await fixture.home.start({}, launcher);
    const client = fixture.client(gateway);
    let refused = 0;
    const streams = Array.from({ length: clients }, async () => {
      const observed = await client.ask({ format: 'chat', isStream: true, model: 'gated' });
      refused++;
      return observed;
    });
    await until(() => running + refused === clients, 'all clients to be served or refused');
    const unreachable: string[] = [];
    for (const url of [`${gateway.url}/livez`, `${gateway.url}/readyz`, `${gateway.operatorUrl}/metrics`]) {
      const status = await fetch(url).then((response) => response.status, String);
      if (status !== 200) unreachable.push(`${url}: ${status}`);
    }
    const served = running;
    gate.resolve();
    const seen = await Promise.all(streams);
    const response = await fetch(`${gateway.operatorUrl}/readyz?verbose`);
    const { checks, routes } = (await response.json()) as Readiness;
    const later = await inParallel(isShort ? 50 : 500, 10, (index) =>
      client.ask({ format: 'chat', isStream: index % 2 === 0, model: 'fine' }),
    );
    const isExpected = ({ ending, status }: (typeof seen)[number]) =>
      ending === 'complete' || (ending === 'refused' && status === 503);
    return [
      noneOf(
        'clients neither served nor refused with 503',
        seen.length,
        seen.filter((observed) => !isExpected(observed)).map(describeObservation),
      ),
      { name: 'clients served at once', count: clients, seen: `${served}`, aim: 'at least 40', isMet: served >= 40 },
      noneOf('health checks and operator pages that were unreachable meanwhile', 3, unreachable),
      noneOf(
        'routes that were blamed',
        routes.length,
        routes.filter(({ state }) => state !== 'closed').map(({ route, state }) => `${route}: ${state}`),
      ),
      noneOf(
        'health checks that did not say it',
        1,
        checks.some(({ name, ok }) => name === 'connections' && !ok) ? [] : [JSON.stringify(checks)],
      ),
      noneOf(
        'requests afterwards that were not answered',
        later.length,
        later.filter(({ ending }) => ending !== 'complete').map(describeObservation),
      ),
    ];
  },
};
