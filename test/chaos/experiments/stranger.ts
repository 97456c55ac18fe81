import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Agent } from 'undici';
import { createAccount } from '#core/business/accounts/accounts.ts';
import type { Client, Observation } from '../client.ts';
import { type Experiment, type Figure, noneOf } from '../figure.ts';
import type { ChaosFixture } from '../fixture.ts';
import { countRecords, describeObservation } from '../records.ts';
import { SmallGateway } from '../small-gateway.ts';
import { strangers } from '../strangers.ts';
import { settableClock } from './clock.ts';
import { models } from './memory.ts';
import { scriptNames } from './names.ts';

/** Of attacks, without `--soak`. */
const seconds = { short: 15, usual: 90, long: 180 };
const megabytes = 768;
const attackers = 24;
const hour = 3_600_000;
/** MiB of the disk of the journal. */
const disk = 8;
/** Ms for which the database hangs, and within which everything is well again; jobs and memory are looked at for minutes. */
const hanging = 12_000;
const recovery = { usual: 40_000, withJobs: 240_000 };

/** Everything at once: every attack on all ports, while name server, clock, disk and database misbehave. */
export const stranger: Experiment = {
  name: 'stranger',
  description: `${Object.keys(strangers).length} kinds of attack at once, while name server, clock, disk and database misbehave`,
  async run(context) {
    const { postgres, isShort, isLong, minutes, print } = context;
    const duration = (minutes ?? seconds[isShort ? 'short' : isLong ? 'long' : 'usual'] / 60) * 60_000;
    const faults: Partial<Misfortunes> = {};
    const prepare = async (fixture: ChaosFixture): Promise<Record<string, string>> => {
      const [names, clock] = [await scriptNames(fixture), await settableClock(fixture)];
      Object.assign(faults, { names, clock, folder: mountData(fixture), database: fixture.database });
      const url = new URL(fixture.home.databaseUrl);
      url.host = `127.0.0.1:${fixture.database.port}`;
      const options = [names, clock].map(({ environment }) => environment.NODE_OPTIONS).join(' ');
      return { ...names.environment, ...clock.environment, NODE_OPTIONS: options, DATABASE_URL: url.href };
    };
    await using gateway = await SmallGateway.start({ postgres, megabytes, models, prepare, change: withSlowNames });
    const misfortunes = faults as Misfortunes;
    // Before the gateway's folder is removed.
    using _disk = { [Symbol.dispose]: () => unmount(misfortunes.folder) };
    if (misfortunes.folder === undefined) print('  the disk is never full: volumes cannot be mounted here');
    const over = new AbortController();
    const client = gateway.fixture.client(gateway.process);
    const running = [keepAttacking(gateway, over.signal), keepAsking(client, over.signal)] as const;
    const hidden = await befall(misfortunes, gateway, duration);
    over.abort();
    const [attacks, seen] = await Promise.all(running);
    print(`  ${[...attacks].map(([kind, count]) => `${count} × ${kind}`).join(', ')}`);
    const figures = await gateway.figures('beside strangers');
    const isPatient = isLong === true || minutes !== undefined;
    const failing = await failingChecks(gateway, isPatient);
    return [...figures, ...(await figuresOf(gateway, { seen, attacks, hidden, failing }))];
  },
};

interface Misfortunes {
  readonly names: Awaited<ReturnType<typeof scriptNames>>;
  readonly clock: Awaited<ReturnType<typeof settableClock>>;
  /** The data folder on a small disk of its own; undefined where that is not possible. */
  readonly folder: string | undefined;
  readonly database: ChaosFixture['database'];
}

/** One after the other, some at the same time. @returns those that readiness did not report */
async function befall({ names, clock, folder, database }: Misfortunes, gateway: SmallGateway, duration: number) {
  const hidden: string[] = [];
  const filler = folder && join(folder, 'filler');
  const share = duration / 8;
  const slow = { delay: 5_000 };
  await names.set({ 'slow-0.test': slow, 'slow-1.test': slow });
  await setTimeout(share);
  await clock.set(-hour);
  await setTimeout(share);
  if (filler !== undefined) fill(filler);
  await names.set({ 'slow-0.test': { delay: null } });
  await setTimeout(share);
  if (filler !== undefined && !(await isReported(gateway, ['records', 'disk']))) hidden.push('a full disk');
  await clock.set(hour);
  await setTimeout(share);
  if (filler !== undefined) rmSync(filler, { force: true });
  database.turn('stall');
  await setTimeout(Math.min(hanging, 2 * share));
  database.turn('open');
  await clock.set(0);
  await names.set({ 'slow-0.test': { code: 'EAI_AGAIN' } });
  await setTimeout(Math.max(share, 4 * share - hanging));
  return hidden;
}

/** Attackers that take the kinds in turn, half of the time on the operator's port. */
async function keepAttacking(gateway: SmallGateway, signal: AbortSignal): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const kinds = Object.entries(strangers);
  const { operatorUrl, url } = gateway.process;
  const period = { days: 1, reason: 'grant', label: 'test' } as const;
  const { key } = await createAccount(gateway.fixture.home.database, 'dp', { name: 'Hostile', period });
  await using agents = new AsyncDisposableStack();
  const dispatcher = agents.adopt(new Agent({ connections: attackers }), (agent) => agent.destroy());
  const attack = async (attacker: number) => {
    for (let turn = attacker; !signal.aborted; turn++) {
      const [kind, play] = kinds[turn % kinds.length] as (typeof kinds)[number];
      const target = { url: turn % 3 === 0 ? operatorUrl : url, key, dispatcher, turn };
      // Whatever happens to an attacker is right.
      await Promise.race([play(target).catch(() => undefined), setTimeout(20_000)]);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      await setTimeout(10);
    }
  };
  await Promise.all(Array.from({ length: attackers }, (_, index) => attack(index)));
  return counts;
}

/** Customers of a healthy model, and some of one whose name is slow and whose backup is healthy. */
async function keepAsking(client: Client, signal: AbortSignal): Promise<Observation[]> {
  const seen: Observation[] = [];
  const customer = async (model: string, pause: number) => {
    while (!signal.aborted) {
      seen.push(await client.ask({ format: 'chat', isStream: false, model }));
      await setTimeout(pause);
    }
  };
  await Promise.all([customer('fine', 30), customer('fine', 30), customer('backed', 200)]);
  return seen;
}

interface Outcome {
  readonly seen: readonly Observation[];
  readonly attacks: ReadonlyMap<string, number>;
  readonly hidden: readonly string[];
  readonly failing: readonly string[];
}

async function figuresOf(gateway: SmallGateway, { seen, attacks, hidden, failing }: Outcome): Promise<Figure[]> {
  const lost = seen.filter(({ ending }) => ending !== 'complete');
  const answered = seen.filter(({ status }) => status !== undefined).map(({ serial }) => serial);
  const records = await countRecords(gateway.fixture.home.database, answered);
  const mistakes = answered
    .filter((serial) => records.get(serial) !== 1)
    .map((serial) => `${records.get(serial) ?? 0} records`);
  const openings = gateway.process.output().match(/(?:fine|quick)\/\w+: breaker opened/g) ?? [];
  const played = attacks.values().reduce((sum, count) => sum + count, 0);
  const kinds = Object.keys(strangers);
  return [
    noneOf('requests of customers that were lost', seen.length, lost.map(describeObservation)),
    noneOf('their records missing or duplicated', answered.length, mistakes),
    noneOf('times that a healthy vendor was taken for dead', seen.length, openings),
    noneOf('misfortunes that readiness did not report', 1, hidden),
    noneOf('health checks that still fail afterwards', 1, failing),
    noneOf(
      'kinds of attack that were never made',
      played,
      kinds.filter((kind) => !attacks.has(kind)),
    ),
  ];
}

type Check = { readonly name: string; readonly ok: boolean; readonly reason?: string };

/** The health checks that fail; readiness itself when it does not respond. */
async function readChecks({ process: { operatorUrl } }: SmallGateway): Promise<Check[]> {
  try {
    const response = await fetch(`${operatorUrl}/readyz?verbose`, { signal: AbortSignal.timeout(10_000) });
    const { checks } = (await response.json()) as { checks: Check[] };
    return checks.filter(({ ok }) => !ok);
  } catch (error) {
    return [{ name: 'readiness', ok: false, reason: String(error) }];
  }
}

/** Whether readiness names one of these checks, as soon as it responds beside the attacks. */
async function isReported(gateway: SmallGateway, names: readonly string[]): Promise<boolean> {
  const end = performance.now() + recovery.usual;
  for (;;) {
    const failing = await readChecks(gateway);
    if (failing.some(({ name }) => names.includes(name))) return true;
    if (performance.now() > end) return false;
    await setTimeout(500);
  }
}

/** What is still wrong when all had the time to recover. The name server is never put right. */
async function failingChecks(gateway: SmallGateway, withJobs: boolean): Promise<string[]> {
  const end = performance.now() + recovery[withJobs ? 'withJobs' : 'usual'];
  const ignored = new Set(withJobs ? ['names'] : ['names', 'jobs', 'memory']);
  for (;;) {
    const failing = (await readChecks(gateway)).filter(({ name }) => !ignored.has(name));
    if (failing.length === 0 || performance.now() > end) return failing.map(({ name, reason }) => `${name}: ${reason}`);
    await setTimeout(500);
  }
}

function withSlowNames(yaml: string): string {
  const port = /fine: \{ format: chat, base_url: "http:\/\/127\.0\.0\.1:(\d+)/.exec(yaml)?.[1];
  return yaml
    .replace(/upstream: \{ breaker.*/, 'upstream')
    .replace(
      '\nupstreams:\n',
      `\ndata: { min_free_bytes: 1048576 }\nupstreams:\n  slow: { format: chat, base_url: "http://slow-0.test:${port}/fine/v1" }\n`,
    )
    .replace('\nmodels:\n', '\nmodels:\n  backed: { routes: [{ to: slow/x, connect_timeout: 1 }, fine/fine] }\n');
}

/** Gives the gateway a small disk for its data. */
function mountData({ home }: ChaosFixture): string | undefined {
  const data = join(home.folder, 'data');
  mkdirSync(data);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${disk}m`, 'daypass-chaos', data], { stdio: 'pipe' });
  } catch {
    return undefined;
  }
  return data;
}

function unmount(folder: string | undefined): void {
  if (folder !== undefined) execFileSync('umount', ['-l', folder], { stdio: 'pipe' });
}

function fill(file: string): void {
  try {
    writeFileSync(file, Buffer.alloc(disk * 1024 * 1024));
  } catch {
    // That is what it is for.
  }
}
