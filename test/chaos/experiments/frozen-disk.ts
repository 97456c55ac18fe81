import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayProcess } from '../../support/gateway-home.ts';
import type { Observation } from '../client.ts';
import { playOpen } from '../faults.ts';
import { type Experiment, type Figure, noneOf } from '../figure.ts';
import { type ChaosFixture, openChaosFixture } from '../fixture.ts';
import { answered, sendLoad } from '../mixed-load.ts';
import { findMistake, recordsOf } from '../records.ts';
import { until } from '../until.ts';

/** Ms for which the disk does not answer. */
const frozenFor = { full: 20_000, short: 4_000 };
/** Ms between two questions whether the gateway is alive. */
const askEvery = 100;
/** Bytes of the volume, and by which memory may grow: the bound of records in memory, and what a load takes anyway. */
const sizes = { volume: 256 * 1024 * 1024, growth: 128 * 1024 * 1024 };
/** Ms that `/livez` and the first word about a signal may take. */
const aims = { livez: 2_000, signal: 2_000, end: 20_000 };

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** The disk of the data folder does not answer, as while a volume is copied: nobody may notice but the operator. */
export const frozenDisk: Experiment = {
  name: 'frozen-disk',
  description:
    'requests go on, signals are heard and no record is lost while the disk of the data folder does not answer',
  async run({ postgres, isShort, print }) {
    await using fixture = await openChaosFixture(postgres, { plays: { 'stays-open': playOpen } });
    using volume = tryMount(join(fixture.home.folder, 'data'), join(fixture.home.folder, 'volume'));
    if (volume === undefined) {
      print('  skipped, because no volume can be mounted and frozen here');
      return [];
    }
    const seen: Observation[] = [];
    const figures = [
      ...(await serveFrozen(fixture, volume, seen, isShort)),
      ...(await stopFrozen(fixture, volume, seen, isShort)),
    ];
    // The next start finds what the disk has got since.
    await using last = await fixture.serve();
    await last.end('SIGTERM');
    const found = await recordsOf(fixture.home.database, seen);
    const mistakes = seen.flatMap((observed) => findMistake(observed, found.get(observed.serial)) ?? []);
    return [
      ...figures,
      noneOf('records missing, duplicated or wrong after the disk froze', answered(seen).length, mistakes),
    ];
  },
};

async function serveFrozen(
  fixture: ChaosFixture,
  volume: Volume,
  seen: Observation[],
  isShort: boolean,
): Promise<Figure[]> {
  const time = isShort ? frozenFor.short : frozenFor.full;
  const gateway = await fixture.serve();
  const load = startLoad(fixture, gateway, seen, isShort);
  await pause(time / 2);
  const before = seen.length;
  const memory = residentBytes(gateway);
  volume.freeze();
  let longest = 0;
  let isReported = false;
  for (const began = performance.now(); performance.now() - began < time;) {
    const asked = performance.now();
    await read(`${gateway.url}/livez`);
    longest = Math.max(longest, performance.now() - asked);
    isReported ||= (await read(`${gateway.operatorUrl}/readyz?verbose`)).includes('the disk does not answer');
    await pause(askEvery);
  }
  const meanwhile = seen.length - before;
  const grown = residentBytes(gateway) - memory;
  volume.thaw();
  await until(() => gateway.output().includes('the journal is written again'), 'the journal to be written again');
  await load.stop();
  const lost = /requests_without_record (\d+)/.exec(await read(`${gateway.operatorUrl}/metrics`))?.[1];
  await gateway.end('SIGTERM');
  const seconds = time / 1000;
  return [
    {
      name: `longest answer of /livez while the disk does not answer for ${seconds} s`,
      count: meanwhile,
      seen: `${Math.round(longest)} ms`,
      aim: `at most ${aims.livez} ms`,
      isMet: longest <= aims.livez,
      isTimed: true,
      limit: { ms: aims.livez, of: 'elapsed' },
    },
    {
      name: 'requests answered meanwhile, over as many as before in the same time',
      count: meanwhile,
      seen: (meanwhile / Math.max(1, before * 2)).toFixed(2),
      aim: 'at least 0.5',
      isMet: meanwhile >= before,
      isTimed: true,
    },
    {
      name: 'growth of memory meanwhile',
      count: meanwhile,
      seen: `${Math.round(grown / 1_048_576)} MB`,
      aim: `at most ${sizes.growth / 1_048_576} MB`,
      isMet: grown <= sizes.growth,
    },
    noneOf('readiness that did not say that the disk does not answer', 1, isReported ? [] : [gateway.output()]),
    noneOf('requests counted as not recorded', meanwhile, lost === '0' ? [] : [`${lost}`]),
  ];
}

/** The signal comes while the disk does not answer. */
async function stopFrozen(
  fixture: ChaosFixture,
  volume: Volume,
  seen: Observation[],
  isShort: boolean,
): Promise<Figure[]> {
  const gateway = await fixture.serve();
  const load = startLoad(fixture, gateway, seen, isShort);
  await pause(isShort ? 1_000 : 3_000);
  volume.freeze();
  try {
    await until(() => gateway.output().includes('the journal cannot be written'), 'the log line');
    const began = performance.now();
    const ended = gateway.end('SIGTERM');
    await until(() => gateway.output().includes('SIGTERM: finishing'), 'the signal to be heard');
    const heard = performance.now() - began;
    await load.stop();
    await until(() => gateway.output().includes('stopped'), 'everything to be closed');
    const closed = performance.now() - began;
    // A thread inside a frozen file system cannot be killed, so Linux keeps the process until the disk answers.
    volume.thaw();
    const code = await ended;
    return [
      {
        name: 'ms until SIGTERM is heard while the disk does not answer',
        count: 1,
        seen: `${Math.round(heard)} ms`,
        aim: `at most ${aims.signal} ms`,
        isMet: heard <= aims.signal,
        isTimed: true,
        limit: { ms: aims.signal, of: 'elapsed' },
      },
      {
        name: 'ms until everything is closed after SIGTERM while the disk does not answer',
        count: 1,
        seen: `${Math.round(closed)} ms`,
        aim: `at most ${aims.end} ms`,
        isMet: closed <= aims.end,
        isTimed: true,
        limit: { ms: aims.end, of: 'elapsed' },
      },
      noneOf('ends with another code than 0 once the disk answers', 1, code === 0 ? [] : [String(code)]),
    ];
  } finally {
    volume.thaw();
  }
}

function startLoad(fixture: ChaosFixture, gateway: GatewayProcess, seen: Observation[], isShort: boolean) {
  const over = new AbortController();
  const load = sendLoad(fixture.client(gateway), seen, { signal: over.signal, isShort });
  return {
    async stop() {
      over.abort();
      await load;
    },
  };
}

function residentBytes({ process: { pid } }: GatewayProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

async function read(url: string): Promise<string> {
  return (await fetch(url, { signal: AbortSignal.timeout(60_000) })).text();
}

/** A file system in a file. */
class Volume implements Disposable {
  readonly #path: string;
  #isFrozen = false;

  constructor(path: string) {
    this.#path = path;
  }

  freeze(): void {
    run('fsfreeze', '--freeze', this.#path);
    this.#isFrozen = true;
  }

  thaw(): void {
    if (this.#isFrozen) run('fsfreeze', '--unfreeze', this.#path);
    this.#isFrozen = false;
  }

  [Symbol.dispose](): void {
    this.thaw();
    run('umount', '--lazy', this.#path);
  }
}

function tryMount(path: string, image: string): Volume | undefined {
  mkdirSync(path);
  try {
    writeFileSync(image, '');
    truncateSync(image, sizes.volume);
    run('mkfs.ext4', '-q', image);
    run('mount', '-o', 'loop', image, path);
  } catch {
    return undefined;
  }
  const volume = new Volume(path);
  try {
    volume.freeze();
    volume.thaw();
    return volume;
  } catch {
    volume[Symbol.dispose]();
    return undefined;
  }
}

function run(command: string, ...parameters: string[]): void {
  execFileSync(command, parameters, { stdio: 'pipe', timeout: 30_000 });
}
