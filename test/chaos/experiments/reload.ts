import { formatAt } from '../answers.ts';
import type { Saw } from '../client.ts';
import { type Experiment, noneOf } from '../figure.ts';
import { describeSaw, judge, recordsOf } from '../records.ts';
import { openChaosFixture } from '../fixture.ts';
import { untilPrinted } from '../until.ts';

const clients = 16;

/** gateway.yaml changes again and again while clients ask. */
export const reload: Experiment = {
  name: 'reload',
  description: 'gateway.yaml is changed and loaded again under load',
  async run({ postgres, isShort }) {
    await using fixture = await openChaosFixture(postgres);
    const gateway = await fixture.start();
    const client = fixture.client(gateway);
    const reloads = isShort ? 3 : 50;
    const seen: Saw[] = [];
    const over = new AbortController();
    const load = Promise.all(
      Array.from({ length: clients }, async (_, index) => {
        for (let turn = 0; !over.signal.aborted; turn++) {
          const format = formatAt(index + turn);
          // Where it fails over, a reload must not forget the way.
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
      noneOf(`requests that failed over ${reloads} reloads of gateway.yaml`, seen.length, failed.map(describeSaw)),
      noneOf(
        'records missing, duplicated or untrue',
        seen.length,
        seen.flatMap((saw) => judge(saw, records.get(saw.serial)) ?? []),
      ),
    ];
  },
};
