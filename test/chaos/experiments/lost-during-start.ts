import type { GatewayProcess } from '../../support/gateway-home.ts';
import { type Experiment, inParallel, noneOf } from '../figure.ts';
import { type ChaosFixture, openChaosFixture } from '../fixture.ts';

/** Answers of PostgreSQL that a start takes, jobs included, and some more. */
const answersOfStart = 120;
/** Ms until PostgreSQL is back. */
const absence = 500;
/** Ms that a gateway may take to answer a request again, or to exit. */
const patience = 20_000;

/** PostgreSQL is lost in place of one of its answers during a start, a later one each time, and comes back. */
export const lostDuringStart: Experiment = {
  name: 'lost-during-start',
  isPatient: true,
  description: 'PostgreSQL is lost during a start: the gateway serves, or ends and says why',
  async run({ postgres, isShort, isLong, print }) {
    const starts = isShort ? 8 : isLong ? 40 : 20;
    let served = 0;
    const results = await inParallel(starts, 2, async (index) => {
      await using fixture = await openChaosFixture(postgres);
      const answer = 1 + Math.floor((index * answersOfStart) / starts);
      const outcome = await startAndLose(fixture, answer);
      if (outcome === 'served') served++;
      return outcome === 'served' || outcome === 'ended' ? undefined : `lost at answer ${answer}: ${outcome}`;
    });
    print(`  ${served} of ${starts} gateways served, the others ended`);
    return [
      noneOf(
        'starts that froze or ended by an unhandled error when PostgreSQL was lost',
        starts,
        results.filter((result) => result !== undefined),
      ),
    ];
  },
};

/** @returns `served`, `ended`, or what went wrong */
async function startAndLose(fixture: ChaosFixture, answer: number): Promise<string> {
  const { database } = fixture;
  database.cutAfter(answer);
  void database.isCut.then(() => setTimeout(() => database.turn('open'), absence));
  try {
    const gateway = await fixture.start();
    return await judge(fixture, gateway);
  } catch (error) {
    const output = String(error);
    return output.includes('unhandled error') ? output : 'ended';
  }
}

/** A gateway that has started answers a request and ends when it is stopped. */
async function judge(fixture: ChaosFixture, gateway: GatewayProcess): Promise<string> {
  const client = fixture.client(gateway);
  const until = performance.now() + patience;
  for (;;) {
    const { ending } = await client.ask({ format: 'chat', isStream: false, model: 'fine' });
    if (ending === 'complete') break;
    if (performance.now() > until) return `no answer: ${gateway.output()}`;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const hanging = setTimeout(() => gateway.process.kill('SIGKILL'), patience);
  const code = await gateway.end('SIGTERM');
  clearTimeout(hanging);
  if (gateway.output().includes('unhandled error')) return gateway.output();
  return code === 0 ? 'served' : `SIGTERM ended it with ${code}: ${gateway.output()}`;
}
