/**
 * `npm run bench:latency`: how much time the gateway adds to a request compared with the bare forwarder: one request at a time, 500 per
 * second for a minute, and small requests while a 5 MB prompt full of escapes is being read. Needs an otherwise idle machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild, stopChild } from './child.ts';
import { type Load, loads, sendLoad, sendSteadily } from './load.ts';
import { quantile } from './statistics.ts';

const singleRequests = 1_000; // to each, one at a time and interleaved
const rate = 500; // per second, each sent when it is due, whether or not earlier ones have finished
const steady = { seconds: 60, slice: 5 }; // in total, in slices in which the two alternate
const disturbed = { times: 20, every: 5 }; // prompts of 5 MB, and ms between the small requests sent meanwhile

const [small, large] = loads as [Load, Load];
const escapes: Load = {
  ...small,
  name: '5 MB of escapes',
  body: JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'abcd"'.repeat(830_000) }] }),
};

const upstream = await startChild('upstream.ts', []);
const url = `http://127.0.0.1:${upstream.port}`;
const bare = await startChild('bare.ts', [url]);
const gateway = await startChild('gateway.ts', [url]);
try {
  for (const child of [bare, gateway])
    for (const load of [small, large]) await sendLoad(child.port, child.key, load, 1_000);
  for (const load of [small, large]) await measureSingle(load);
  await measureSteady();
  await measureDisturbed();
} finally {
  for (const child of [gateway, bare, upstream]) await stopChild(child.process);
}
process.exit(0);

async function measureSingle(load: Load): Promise<void> {
  const times = new Map([upstream, bare, gateway].map((child) => [child, [] as number[]]));
  for (let request = 0; request < singleRequests; request++)
    for (const [child, taken] of times) taken.push(await measureCallMs(child, load));
  const [direct = [], ofBare = [], ofGateway = []] = [...times.values()];
  for (const share of [0.5, 0.99]) {
    const [own, between, all] = [direct, ofBare, ofGateway].map((taken) => quantile(taken, share)) as [
      number,
      number,
      number,
    ];
    console.log(
      `${load.name}, one at a time, ${singleRequests} each: p${share * 100} bare + ${formatMs(between - own)}, gateway + ${formatMs(all - own)}`,
    );
  }
}

async function measureSteady(): Promise<void> {
  const times = new Map([bare, gateway].map((child) => [child, [] as number[]]));
  for (let slice = 0; slice < steady.seconds / steady.slice; slice++)
    for (const [{ port, key }, taken] of times)
      taken.push(...(await sendSteadily(port, key, small, rate, rate * steady.slice)));
  const [ofBare = [], ofGateway = []] = [...times.values()];
  for (const share of [0.5, 0.99])
    console.log(
      `${rate} a second, ${ofGateway.length} each: p${share * 100} bare ${formatMs(quantile(ofBare, share))}, gateway ${formatMs(quantile(ofGateway, share))}`,
    );
}

async function measureDisturbed(): Promise<void> {
  const longest = new Map([bare, gateway].map((child) => [child, [] as number[]]));
  for (let time = 0; time < disturbed.times; time++)
    for (const [child, taken] of longest) taken.push(await measureLongestCallMs(child));
  for (const [child, taken] of longest)
    console.log(
      `${child === bare ? 'bare' : 'gateway'}: small requests beside a prompt of 5 MB full of escapes, ${disturbed.times} times: the slowest takes ${formatMs(quantile(taken, 0.5))} (median), at most ${formatMs(Math.max(...taken))}`,
    );
}

async function measureLongestCallMs(child: Child): Promise<number> {
  const over = new AbortController();
  const prompt = sendLoad(child.port, child.key, { ...escapes, concurrency: 1 }, 1).finally(() => over.abort());
  prompt.catch(() => undefined); // rethrown below
  const taken: Promise<number>[] = [];
  while (!over.signal.aborted) {
    taken.push(measureCallMs(child, small));
    await sleep(disturbed.every);
  }
  await prompt;
  return Math.max(...(await Promise.all(taken)));
}

async function measureCallMs({ port, key }: Child, load: Load): Promise<number> {
  const began = performance.now();
  await sendLoad(port, key, { ...load, concurrency: 1 }, 1);
  return performance.now() - began;
}

function formatMs(value: number): string {
  return `${value.toFixed(2)} ms`;
}
