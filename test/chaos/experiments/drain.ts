import { formatAt } from '../answers.ts';
import { finish, playOpen } from '../faults.ts';
import { type Experiment, noneOf } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { describeObservation, findMistake, recordsOf } from '../records.ts';
import { until, untilPrinted } from '../until.ts';

/** The gateway gets SIGTERM while streams run that end within its drain limit. */
export const drain: Experiment = {
  name: 'drain',
  description: 'SIGTERM while streams run that are shorter than the drain limit',
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
    const gateway = await fixture.serve();
    const client = fixture.client(gateway);
    const count = isShort ? 30 : 200;
    const streams = Array.from({ length: count }, (_, index) =>
      client.ask({ format: formatAt(index), isStream: true, model: 'gated' }),
    );
    await until(() => running === count, 'all streams to run');
    const ended = gateway.end('SIGTERM');
    await untilPrinted(gateway, 'finishing requests in flight');
    gate.resolve();
    const seen = await Promise.all(streams);
    const code = await ended;
    const records = await recordsOf(fixture.home.database, seen);
    const cut = seen.filter(({ ending }) => ending !== 'complete');
    return [
      noneOf('running streams cut by SIGTERM', seen.length, cut.map(describeObservation)),
      noneOf(
        'records missing, duplicated or wrong',
        seen.length,
        seen.flatMap((observed) => findMistake(observed, records.get(observed.serial)) ?? []),
      ),
      { name: 'exit code', count: 1, seen: String(code), aim: '0', isMet: code === 0 },
    ];
  },
};
