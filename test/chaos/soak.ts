import { readFile } from 'node:fs/promises';
import { formatAt } from './answers.ts';
import type { Client, Ending } from './client.ts';
import { faultScripts, playOpen } from './faults.ts';
import type { Experiment, Figure } from './figure.ts';
import { openChaosFixture } from './fixture.ts';

const clients = 24;
const sampleEvery = 2_000; // ms
/** MB a minute of memory growth that is accepted over the last two thirds. */
const maxSlope = 1;

interface Sample {
  readonly minutes: number;
  readonly megabytes: number;
}

/** Minutes of mixed load, faults included, to find leaked memory. */
export function soak(minutes: number): Experiment {
  return {
    name: 'soak',
    description: `${minutes} minutes of mixed load, faults included, to watch the memory of the gateway`,
    async run({ postgres, print }) {
      await using fixture = await openChaosFixture(postgres, {
        keepsRequests: false,
        plays: { 'stays-open': playOpen },
      });
      const gateway = await fixture.serve();
      const endings = new Map<Ending, number>();
      const over = AbortSignal.timeout(minutes * 60_000);
      const load = sendMixedLoad(fixture.client(gateway), endings, over);
      const samples: Sample[] = [];
      const began = performance.now();
      while (!over.aborted) {
        samples.push({
          minutes: (performance.now() - began) / 60_000,
          megabytes: await residentSize(gateway.process.pid),
        });
        await new Promise((resolve) => setTimeout(resolve, sampleEvery));
      }
      await load;
      print(`  ${[...endings].map(([ending, count]) => `${count} ${ending}`).join(', ')}`);
      for (const { minutes: at, megabytes } of everyTenth(samples)) {
        print(`  after ${at.toFixed(1)} min: ${megabytes.toFixed(0)} MB`);
      }
      return [slopeFigure(samples, endings)];
    },
  };
}

/** Each fault in turn, as many healthy requests, and clients that leave. */
async function sendMixedLoad(client: Client, endings: Map<Ending, number>, signal: AbortSignal): Promise<void> {
  const models = [...faultScripts.flatMap(({ name }) => ['fine', name]), 'stays-open', 'no-such-model'];
  const loop = async (index: number) => {
    for (let turn = index; !signal.aborted; turn++) {
      const model = models[turn % models.length] as string;
      const format = formatAt(turn + Math.floor(turn / models.length));
      const leaves = model === 'stays-open';
      const { ending } = await client.ask({
        format,
        model,
        isStream: leaves || Math.floor(turn / models.length) % 2 === 0,
        ...(leaves && { leave: 'at content' as const }),
      });
      endings.set(ending, (endings.get(ending) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => loop(index)));
}

/** Resident memory of a process in MB, from Linux's procfs. */
async function residentSize(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

function slopeFigure(samples: readonly Sample[], endings: ReadonlyMap<Ending, number>): Figure {
  const slope = slopeOf(samples.slice(Math.floor(samples.length / 3)));
  return {
    name: 'memory growth over the last two thirds',
    count: endings.values().reduce((sum, count) => sum + count, 0),
    seen: `${slope.toFixed(2)} MB a minute`,
    aim: `at most ${maxSlope}`,
    isMet: slope <= maxSlope,
    isTimed: true,
  };
}

/** By least squares, in MB a minute. */
function slopeOf(samples: readonly Sample[]): number {
  const meanTime = mean(samples.map(({ minutes }) => minutes));
  const meanSize = mean(samples.map(({ megabytes }) => megabytes));
  let numerator = 0;
  let denominator = 0;
  for (const { minutes, megabytes } of samples) {
    numerator += (minutes - meanTime) * (megabytes - meanSize);
    denominator += (minutes - meanTime) ** 2;
  }
  return numerator / denominator;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function everyTenth(samples: readonly Sample[]): readonly Sample[] {
  const step = Math.max(1, Math.floor(samples.length / 10));
  return samples.filter((_, index) => index % step === 0);
}
