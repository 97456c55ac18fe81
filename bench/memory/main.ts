/**
 * `npm run bench:memory`: resident memory of the gateway's process, with its database outside and beside the bare forwarder: idle a
 * minute after the start, with 1,000 open streams, with 32 bodies of 100 KB at once, and after all of that. Exits with 1 when a
 * figure is over its aim. Linux only.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { EmbeddedPostgres } from '#core/platform/database/embedded.ts';
import { type Child, startChild, stopChild } from '../child.ts';
import { type Load, loads, sendLoad } from '../load.ts';
import { ProcessTree } from '../peers/process-tree.ts';

/** MB, or a multiple of the bare forwarder's, or of what it was before. */
const aims = { idle: 180, streams: 200, bodies: 1.5, after: 1.2 };
const openStreams = 1_000;
/** Ms until a started gateway is at rest, and until one is after a load. */
const rest = 60_000;

const [small, large, stream] = loads as [Load, Load, Load];
const folder = await mkdtemp(join(tmpdir(), 'daypass-bench-memory-'));
// PostgreSQL may run as another user, which must be able to enter.
await chmod(folder, 0o755);
const quiet = { info: () => undefined, warn: console.warn, error: console.error };
const postgres = await EmbeddedPostgres.open(folder, quiet);
const upstream = await startChild('upstream.ts', []);
const url = `http://127.0.0.1:${upstream.port}`;
const bare = await startChild('bare.ts', [url]);
const gateway = await startChild('gateway.ts', [url, postgres.url]);
let isOver = false;
try {
  await sleep(rest);
  const idle = resident(gateway);
  report('idle, 60 s after the start, MB', idle, aims.idle);
  await sendLoad(gateway.port, gateway.key, small, 2_000);
  await sleep(rest / 2);
  const before = resident(gateway);
  const ofBare = await peakWithBodies(bare);
  const ofGateway = await peakWithBodies(gateway);
  report(
    `32 bodies of 100 KB at once: peak ${ofGateway.toFixed(0)} MB, of the bare forwarder ${ofBare.toFixed(0)} MB; ratio`,
    ofGateway / ofBare,
    aims.bodies,
  );
  await sleep(rest / 4);
  const beforeStreams = resident(gateway);
  report(`${openStreams} open streams, MB more`, (await withStreams()) - beforeStreams, aims.streams);
  await sleep(rest);
  report(
    `a minute after the load: ${resident(gateway).toFixed(0)} MB, before ${before.toFixed(0)} MB; ratio`,
    resident(gateway) / before,
    aims.after,
  );
} finally {
  for (const child of [gateway, bare, upstream]) await stopChild(child.process);
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(isOver ? 1 : 0);

/** MB at the peak while 32 clients send prompts of 100 KB. */
async function peakWithBodies({ port, key, process: { pid } }: Child): Promise<number> {
  const tree = new ProcessTree(pid as number, true);
  await sendLoad(port, key, large, 200);
  tree.resetPeak();
  await sendLoad(port, key, large);
  return tree.peak / 1_048_576;
}

/** Opens streams until all of them are open at once. @returns the most resident memory meanwhile, MB */
async function withStreams(): Promise<number> {
  const agent = new Agent({ connections: openStreams });
  const closing = new AbortController();
  const first = Array.from({ length: openStreams }, async () => {
    const { statusCode, body } = await request(`http://127.0.0.1:${gateway.port}${stream.path}`, {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      // The upstream writes an event a second: all of them last until they are closed.
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
  const most = resident(gateway);
  closing.abort();
  await agent.destroy();
  return most;
}

/** MB. */
function resident({ process: { pid } }: Child): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function report(what: string, value: number, aim: number): void {
  isOver ||= value > aim;
  console.log(`${what}: ${value.toFixed(value < 10 ? 2 : 0)} (aim: at most ${aim})`);
}
