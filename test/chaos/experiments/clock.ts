import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { GatewayProcess } from '../../support/gateway-home.ts';
import type { Client, Observation } from '../client.ts';
import { playFine } from '../faults.ts';
import { type Experiment, noneOf } from '../figure.ts';
import { type ChaosFixture, openChaosFixture } from '../fixture.ts';
import { countRecords, describeObservation } from '../records.ts';
import { until } from '../until.ts';

const hour = 3_600_000;
const steps = { long: [-hour, hour, -24 * hour, 0], usual: [-hour, hour, 0], short: [-hour] };
/** Ms for which the database hangs after the first step. */
const hanging = 12_000;
/** Ms that a route may stay out, whose cooldown is two seconds. */
const longestOut = 30_000;
/** Ms in which repeated jobs must run again: two looks of a minute each, and their periods. */
const longestWithoutJobs = 180_000;
/** Jobs that run every 15 or 20 seconds. */
const frequent = ['usage-rollup', 'watch-models'];

/** The gateway's wall clock is set while routes are out and requests run; PostgreSQL keeps its own. */
export const clock: Experiment = {
  name: 'clock',
  isPatient: true,
  description:
    "the gateway's clock is set back and forward: routes come back in time, jobs go on, no request or record is lost",
  async run({ postgres, isShort, isLong, print }) {
    let isDown = false;
    await using fixture = await openChaosFixture(postgres, {
      stage: '{ breaker: { failures: 3, cooldown: 2 } }',
      plays: {
        ailing: (scene) => (isDown ? scene.response.json(503, {}) : playFine(scene)),
      },
    });
    const lone = 'models:\n  lone: { routes: [faulty/ailing] }\n';
    await fixture.home.write(fixture.yaml.replace('models:\n', lone));
    const { set, environment } = await settableClock(fixture);
    const gateway = await fixture.serve(environment);
    const client = fixture.client(gateway);
    const early = await stoppedJobs(fixture, 0);
    if (early.length > 0) throw new Error(`${early.join(', ')} did not run before the clock was set`);
    const load = startLoad(client);
    const [routes, jobs]: [string[], string[]] = [[], []];
    const taken = steps[isShort ? 'short' : isLong ? 'long' : 'usual'];
    for (const step of taken) {
      isDown = true;
      await untilOut(client, gateway);
      await set(step);
      isDown = false;
      const out = await outFor(client);
      print(`  ${step / hour} h: the route was back after ${(out / 1000).toFixed(1)} s`);
      if (out > longestOut) routes.push(`${step / hour} h: out for ${out} ms`);
      if (step === taken[0] && !isShort) await hang(fixture);
      const stopped = await stoppedJobs(fixture, step);
      if (stopped.length > 0) jobs.push(`${step / hour} h: ${stopped.join(', ')} did not run\n${gateway.output()}`);
    }
    const verdict = await verdictOnJobs(gateway);
    const seen = await load.stop();
    const lost = seen.filter(({ ending }) => ending !== 'complete');
    return [
      noneOf('steps of the clock after which a route stayed out for longer than its cooldown', taken.length, routes),
      noneOf('steps of the clock after which repeated jobs did not run', taken.length * frequent.length, jobs),
      noneOf('verdicts after them that repeated jobs do not run', 1, verdict),
      noneOf('requests lost while the clock was set', seen.length, lost.map(describeObservation)),
      noneOf('records missing or duplicated then', seen.length, await wrongRecords(fixture, gateway, seen)),
    ];
  },
};

/** A file by which a gateway's clock is set, and what makes the gateway read it. */
export async function settableClock({ home }: ChaosFixture) {
  const file = join(home.folder, 'clock');
  const set = async (step: number) => {
    await writeFile(`${file}.new`, String(step));
    await rename(`${file}.new`, file);
    await until(() => existsSync(`${file}.seen`) && readFileSync(`${file}.seen`, 'utf8') === String(step), 'the clock');
  };
  await writeFile(file, '0');
  const preload = join(import.meta.dirname, '..', 'shifted-clock.ts');
  return { set, environment: { SHIFTED_CLOCK: file, NODE_OPTIONS: `--import ${preload}` } };
}

/** Asks for a healthy model all the time. */
function startLoad(client: Client) {
  const seen: Observation[] = [];
  const stopping = new AbortController();
  const run = async () => {
    for (let count = 0; !stopping.signal.aborted; count++) {
      seen.push(await client.ask({ format: 'chat', isStream: count % 2 === 0, model: 'fine' }));
      await setTimeout(50);
    }
  };
  const running = Promise.all([run(), run(), run(), run()]);
  return {
    async stop() {
      stopping.abort();
      await running;
      return seen;
    },
  };
}

const askLone = (client: Client) => client.ask({ format: 'chat', isStream: false, model: 'lone' });

/** Until the breaker of the only route has opened once more. */
async function untilOut(client: Client, gateway: GatewayProcess): Promise<void> {
  const openings = () => gateway.output().split('faulty/ailing: breaker opened').length;
  const before = openings();
  const end = performance.now() + longestOut;
  while (openings() === before) {
    if (performance.now() > end) throw new Error('the breaker stays closed');
    await askLone(client);
  }
}

/** Ms until the route serves again. */
async function outFor(client: Client): Promise<number> {
  const began = performance.now();
  while ((await askLone(client)).ending !== 'complete') {
    if (performance.now() - began > longestOut) break;
    await setTimeout(100);
  }
  return performance.now() - began;
}

/** The frequent jobs that have not run twice since the clock was set. */
async function stoppedJobs({ home }: ChaosFixture, step: number): Promise<string[]> {
  const end = performance.now() + longestWithoutJobs;
  for (;;) {
    // Each run plans the next one: twice by the clock as it is. One that was made anew has a number behind its name.
    const rows = await home.database.query<{ id: string }>(
      `select split_part(scheduler_id, '~', 1) as id from bullmq.scheduler
       where split_part(scheduler_id, '~', 1) in (?) and iteration_count > 1 and abs(next_run_ms - ?) < 60000`,
      [frequent, Date.now() + step],
    );
    const stopped = frequent.filter((name) => rows.every(({ id }) => id !== name));
    if (stopped.length === 0 || performance.now() > end) return stopped;
    await setTimeout(500);
  }
}

async function hang({ database }: ChaosFixture): Promise<void> {
  database.turn('stall');
  await setTimeout(hanging);
  database.turn('open');
}

/** The reason of the health check of jobs that still fails when it has had the time to look; none when it passes. */
async function verdictOnJobs({ operatorUrl }: GatewayProcess): Promise<string[]> {
  const end = performance.now() + longestWithoutJobs;
  for (;;) {
    const { checks } = (await (await fetch(`${operatorUrl}/readyz?verbose`)).json()) as {
      checks: { name: string; ok: boolean; reason?: string }[];
    };
    const failing = checks.filter(({ name, ok }) => name === 'jobs' && !ok);
    if (failing.length === 0 || performance.now() > end) return failing.map(({ reason }) => reason ?? 'no reason');
    await setTimeout(1_000);
  }
}

async function wrongRecords(fixture: ChaosFixture, gateway: GatewayProcess, seen: readonly Observation[]) {
  await gateway.end('SIGTERM');
  const counts = await countRecords(
    fixture.home.database,
    seen.map(({ serial }) => serial),
  );
  return seen
    .filter(({ serial }) => counts.get(serial) !== 1)
    .map(({ serial }) => `${serial}: ${counts.get(serial) ?? 0} records`);
}
