/**
 * `npm run bench:memory`: resident memory of the gateway's process, started as by `npm start` with an external database, compared with the
 * bare forwarder: idle a minute after the start, with 1,000 open streams, with 32 bodies of 100 KB at a time, and after all of that. Exits
 * with 1 if a figure exceeds its target. `-- --against FOLDER` measures another checkout as well. Linux only.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { startPostgres } from '../../test/support/global-postgres.ts';
import { startChild, stopChild } from '../child.ts';
import { type Load, loads, sendLoad } from '../load.ts';
import { ProcessTree } from '../peers/process-tree.ts';
import { createEmptyDatabase, startBare, startShop, type Subject } from '../shop/subjects.ts';

const aims = { idle: 180, streams: 200, bodies: 1.5, after: 1.2 }; // MB; `bodies` relative to the bare forwarder, `after` to the memory before
const openStreams = 1_000;
const settleMs = 60_000; // after a gateway's start, and after a load

const { values: flags } = parseArgs({ options: { against: { type: 'string' } } });
const [small, large, stream] = loads as [Load, Load, Load];
const postgres = await startPostgres();
const upstream = await startChild('upstream.ts', []);
const url = `http://127.0.0.1:${upstream.port}`;
const bare = await startBare('bare', 'bare.ts', url);
let isOver = false;
try {
  await measure({ name: 'gateway' });
  if (flags.against !== undefined) await measure({ name: 'other', checkout: flags.against });
} finally {
  await bare[Symbol.asyncDispose]();
  await stopChild(upstream.process);
  await postgres[Symbol.asyncDispose]();
}
process.exit(isOver ? 1 : 0);

async function measure(which: { name: string; checkout?: string }): Promise<void> {
  // A checkout's first start compiles what later ones find in a cache.
  const first = await startShop(url, await createEmptyDatabase(postgres.url), 1, which);
  await first[Symbol.asyncDispose]();
  await using gateway = await startShop(url, await createEmptyDatabase(postgres.url), 1, which);
  const report = (what: string, value: number, aim: number) => {
    isOver ||= value > aim && which.checkout === undefined;
    console.log(`${which.name}: ${what}: ${value.toFixed(value < 10 ? 2 : 0)} (aim: at most ${aim})`);
  };
  await sleep(settleMs);
  report('idle, 60 s after the start, MB', residentMb(gateway), aims.idle);
  await sendLoad(gateway.port, keyOf(gateway), small, 20_000);
  await sleep(settleMs);
  const before = residentMb(gateway);
  console.log(`${which.name}: a minute after 20,000 small calls: ${before.toFixed(0)} MB`);
  const ofBare = await measurePeakMbWithBodies(bare);
  const ofGateway = await measurePeakMbWithBodies(gateway);
  report(
    `32 bodies of 100 KB at once: peak ${ofGateway.toFixed(0)} MB, of the bare forwarder ${ofBare.toFixed(0)} MB; ratio`,
    ofGateway / ofBare,
    aims.bodies,
  );
  await sleep(settleMs);
  const beforeStreams = residentMb(gateway);
  console.log(`${which.name}: a minute after that: ${beforeStreams.toFixed(0)} MB`);
  report(`${openStreams} open streams, MB more`, (await measureMbWithStreams(gateway)) - beforeStreams, aims.streams);
  await sleep(settleMs);
  report(
    `a minute after the load: ${residentMb(gateway).toFixed(0)} MB, before ${before.toFixed(0)} MB; ratio`,
    residentMb(gateway) / before,
    aims.after,
  );
}

async function measurePeakMbWithBodies(subject: Subject): Promise<number> {
  const tree = new ProcessTree(subject.usage.processId, true);
  await sendLoad(subject.port, keyOf(subject), large, 200);
  tree.resetPeak();
  await sendLoad(subject.port, keyOf(subject), large);
  return tree.peakBytes / 1_048_576;
}

async function measureMbWithStreams(gateway: Subject): Promise<number> {
  const agent = new Agent({ connections: openStreams });
  const closing = new AbortController();
  const first = Array.from({ length: openStreams }, async () => {
    const { statusCode, body } = await request(`http://127.0.0.1:${gateway.port}${stream.path}`, {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${keyOf(gateway)}` },
      // The upstream writes one event per second, so all streams last until they are closed.
      body: JSON.stringify({ ...(JSON.parse(stream.body) as object), user: 'slow' }),
      signal: closing.signal,
    });
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    body.on('error', () => undefined);
    await once(body, 'data');
    body.resume();
  });
  await Promise.all(first);
  await sleep(5_000);
  const most = residentMb(gateway);
  closing.abort();
  await agent.destroy();
  return most;
}

function keyOf({ keys: [key] }: Subject): string {
  return key as string;
}

function residentMb({ usage }: Subject): number {
  return usage.residentBytes() / 1_048_576;
}
