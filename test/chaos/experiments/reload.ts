import { formatAt } from '../answers.ts';
import type { Observation } from '../client.ts';
import { type Experiment, noneOf } from '../figure.ts';
import { describeObservation, findMistake, recordsOf } from '../records.ts';
import { openChaosFixture } from '../fixture.ts';
import { untilPrinted } from '../until.ts';

const clients = 16;

/** gateway.yaml changes repeatedly while clients send requests. */
export const reload: Experiment = {
  name: 'reload',
  description: 'gateway.yaml is changed and reloaded under load',
  async run({ postgres, isShort }) {
    await using fixture = await openChaosFixture(postgres);
    const gateway = await fixture.start();
    const client = fixture.client(gateway);
    const reloads = isShort ? 3 : 50;
    const seen: Observation[] = [];
    const over = new AbortController();
    const load = Promise.all(
      Array.from({ length: clients }, async (_, index) => {
        for (let turn = 0; !over.signal.aborted; turn++) {
          const format = formatAt(index + turn);
          // A reload must not break failover either.
          const model = turn % 3 === 0 ? 'status-500' : 'fine';
          seen.push(await client.ask({ format, isStream: turn % 2 === 0, model }));
        }
      }),
    );
    for (let number = 1; number <= reloads; number++) {
      await fixture.home.write(`${fixture.yaml}\naliases: { alias-${number}: fine }\n`);
      await untilPrinted(gateway, 'has been reloaded', number);
    }
    over.abort();
    await load;
    const records = await recordsOf(fixture.home.database, seen);
    const failed = seen.filter(({ ending }) => ending !== 'complete');
    return [
      noneOf(
        `requests that failed over ${reloads} reloads of gateway.yaml`,
        seen.length,
        failed.map(describeObservation),
      ),
      noneOf(
        'records missing, duplicated or wrong',
        seen.length,
        seen.flatMap((observed) => findMistake(observed, records.get(observed.serial)) ?? []),
      ),
    ];
  },
};
