import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Observation } from '../client.ts';
import { playOpen } from '../faults.ts';
import { type Experiment, inParallel, noneOf } from '../figure.ts';
import { type ChaosFixture, openChaosFixture } from '../fixture.ts';
import { answered, sendLoad } from '../mixed-load.ts';
import { findMistake, recordsOf } from '../records.ts';
import { until } from '../until.ts';

interface Damage {
  readonly name: string;
  readonly isVolume?: true;
  act(data: string): void;
  /** Puts right what the gateway must not: until then it is degraded. */
  undo?(data: string): void;
}

const damages: readonly Damage[] = [
  { name: 'the journal is removed', act: (data) => remove(join(data, 'journal')) },
  {
    name: 'the journal is replaced by a file',
    act(data) {
      remove(join(data, 'journal'));
      writeFileSync(join(data, 'journal'), 'not a folder');
    },
    undo: (data) => rmSync(join(data, 'journal')),
  },
  { name: 'the data folder is removed', act: remove },
  {
    name: 'the segments are removed',
    act(data) {
      const journal = join(data, 'journal');
      for (const name of readdirSync(journal))
        if (name.endsWith('.ndjson')) rmSync(join(journal, name), { force: true });
    },
  },
  { name: 'its volume is unmounted', isVolume: true, act: unmount, undo: mount },
];

/** The data folder goes while requests are recorded: none may lose its record, and readiness must say what is wrong. */
export const dataFolder: Experiment = {
  name: 'data-folder',
  description: 'no record is lost when the data folder is removed, replaced or unmounted',
  async run({ postgres, isShort, print }) {
    const missing: string[] = [];
    const silent: string[] = [];
    let count = 0;
    const chosen = isShort ? damages.slice(0, 2) : damages;
    await inParallel(chosen.length, 2, async (index) => {
      const damage = chosen[index] as Damage;
      await using fixture = await openChaosFixture(postgres, { plays: { 'stays-open': playOpen } });
      const outcome = await hurt(fixture, damage, isShort);
      if (outcome === undefined) {
        return print(`  ${damage.name}: skipped, because volumes cannot be mounted here`);
      }
      count += outcome.count;
      missing.push(...outcome.mistakes.map((mistake) => `${damage.name}: ${mistake}`));
      if (!outcome.isReported) silent.push(damage.name);
      print(`  ${damage.name}: ${outcome.count} requests`);
    });
    return [
      noneOf('records missing, duplicated or wrong after the data folder went', count, missing),
      noneOf('ways of losing it that neither log nor readiness reported', chosen.length, silent),
    ];
  },
};

async function hurt(fixture: ChaosFixture, { isVolume, act, undo }: Damage, isShort: boolean) {
  /** Requests before, during and after the damage, each. */
  const share = isShort ? 60 : 500;
  const data = join(fixture.home.folder, 'data');
  mkdirSync(data);
  if (isVolume && !tryMount(data)) return undefined;
  const gateway = await fixture.serve();
  const seen: Observation[] = [];
  const over = new AbortController();
  const load = sendLoad(fixture.client(gateway), seen, { signal: over.signal, isShort });
  const more = () => {
    const { length } = seen;
    return until(() => seen.length >= length + share, 'more requests');
  };
  try {
    await more();
    act(data);
    await until(
      () => gateway.output().includes('was removed, replaced or unmounted while it was in use'),
      'the log line',
    );
    await more();
    const isReported =
      undo === undefined || (await readiness(gateway.operatorUrl)).includes('"name":"records","ok":false');
    undo?.(data);
    await more();
    await until(
      () =>
        count(gateway.output(), 'the journal cannot be written') ===
        count(gateway.output(), 'the journal is written again'),
      'the journal to be written again',
    );
    over.abort();
    await load;
    const lost = /requests_without_record (\d+)/.exec(await read(`${gateway.operatorUrl}/metrics`))?.[1];
    await gateway.end('SIGTERM');
    const found = await recordsOf(fixture.home.database, seen);
    const mistakes = seen.flatMap((observed) => findMistake(observed, found.get(observed.serial)) ?? []);
    if (lost !== '0') mistakes.push(`${lost} requests counted as not recorded`);
    return { count: answered(seen).length, mistakes, isReported };
  } finally {
    over.abort();
    if (isVolume) unmount(data);
  }
}

const count = (text: string, part: string) => text.split(part).length;

const readiness = (operatorUrl: string) => read(`${operatorUrl}/readyz?verbose`);

async function read(url: string): Promise<string> {
  return (await fetch(url, { signal: AbortSignal.timeout(10_000) })).text();
}

function remove(path: string): void {
  // A request may write a file meanwhile.
  while (existsSync(path)) rmSync(path, { recursive: true, force: true });
}

function mount(path: string): void {
  execFileSync('mount', ['-t', 'tmpfs', 'daypass-chaos', path], { stdio: 'pipe' });
}

function tryMount(path: string): boolean {
  try {
    mount(path);
    return true;
  } catch {
    return false;
  }
}

function unmount(path: string): void {
  execFileSync('umount', ['-l', path], { stdio: 'pipe' });
}
