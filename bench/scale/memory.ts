import { once } from 'node:events';
import { Agent, request } from 'undici';
import { startChild, stopChild } from '../child.ts';
import { type Load, loads } from '../load.ts';
import { startShop, type Subject } from '../shop/subjects.ts';
import { MemoryGroup } from './memory-group.ts';

const MiB = 1024 * 1024;
const bodySizes = [1, 2, 4, 8, 12, 16, 20, 24, 28, 31]; // MB; a gateway accepts at most 32
const bodiesAtOnce = [2, 4, 8, 16, 32, 64, 128]; // of 1 MB each
const streamsPerStep = 250;
const maxStreams = 5_000;

/** Sends larger bodies and opens more streams until the gateway, which shares this memory with its PostgreSQL, rejects one. */
export async function measureMemory(megabytes: number, checkout: string): Promise<void> {
  await using group = new MemoryGroup('daypass-bench-memory', megabytes * MiB);
  const upstream = await startChild('upstream.ts', []);
  try {
    const url = `http://127.0.0.1:${upstream.port}`;
    await using gateway = await startShop(url, undefined, 1, { checkout, launcher: group.launcher });
    const resident = () =>
      group.memberPids.includes(gateway.usage.processId)
        ? `${(gateway.usage.residentBytes() / MiB).toFixed(0)} MB resident`
        : 'the gateway was killed';
    console.log(`${megabytes} MB for the gateway and its PostgreSQL: ${resident()}`);
    const largest = await findLast(bodySizes, (size) => sendBodies(gateway, size, 1));
    console.log(`  largest body: ${describe(largest, 'MB')}; ${resident()}`);
    const most = await findLast(bodiesAtOnce, (count) => sendBodies(gateway, 1, count));
    console.log(`  bodies of 1 MB at once: ${describe(most, '')}; ${resident()}`);
    console.log(`  streams at once: ${await countStreams(gateway)}; ${resident()}`);
    console.log(`  peak of all processes: ${(group.peakBytes / MiB).toFixed(0)} MB; killed: ${group.oomKills}`);
  } finally {
    await stopChild(upstream.process);
  }
}

interface Last {
  readonly served: number;
  readonly refusal: string | undefined;
}

async function findLast(
  values: readonly number[],
  attempt: (value: number) => Promise<string | undefined>,
): Promise<Last> {
  let served = 0;
  for (const value of values) {
    const refusal = await attempt(value);
    if (refusal !== undefined) return { served, refusal: `${value}: ${refusal}` };
    served = value;
  }
  return { served, refusal: undefined };
}

function describe({ served, refusal }: Last, unit: string): string {
  return refusal === undefined ? `${served} ${unit}, all that were tried` : `${served} ${unit} (${refusal})`;
}

/** Returns the first rejection or failure. */
async function sendBodies(gateway: Subject, size: number, count: number): Promise<string | undefined> {
  const body = JSON.stringify({
    model: 'bench',
    messages: [{ role: 'user', content: 'lorem ipsum dolor '.repeat((size * MiB) / 18) }],
  });
  const agent = new Agent({ connections: count });
  const results = await Promise.all(
    Array.from({ length: count }, async () => {
      try {
        const response = await post(gateway, agent, body);
        const text = await response.body.text();
        return response.statusCode === 200 ? undefined : `status ${response.statusCode}: ${text.slice(0, 120)}`;
      } catch (error) {
        return (error as Error).message;
      }
    }),
  );
  await agent.destroy();
  return results.find((result) => result !== undefined);
}

/** The streams get an event per second, and stay open. */
async function countStreams(gateway: Subject): Promise<string> {
  const agent = new Agent({ connections: maxStreams });
  try {
    for (let open = 0; open < maxStreams; open += streamsPerStep) {
      const opening = await Promise.allSettled(
        Array.from({ length: streamsPerStep }, () => openStream(gateway, agent)),
      );
      const refusals = opening.filter((result) => result.status === 'rejected');
      if (refusals[0] !== undefined)
        return `${open + streamsPerStep - refusals.length} (${(refusals[0].reason as Error).message})`;
    }
    return `${maxStreams}, all that were tried`;
  } finally {
    await agent.destroy();
  }
}

async function openStream(gateway: Subject, agent: Agent): Promise<void> {
  const [, , stream] = loads as [Load, Load, Load];
  const { statusCode, body } = await post(
    gateway,
    agent,
    JSON.stringify({ ...(JSON.parse(stream.body) as object), user: 'slow' }),
  );
  body.on('error', () => undefined);
  if (statusCode !== 200) throw new Error(`status ${statusCode}: ${(await body.text()).slice(0, 120)}`);
  await once(body, 'data');
  body.resume();
}

function post(gateway: Subject, dispatcher: Agent, body: string) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${gateway.keys[0]}` };
  return request(`http://127.0.0.1:${gateway.port}/v1/chat/completions`, { dispatcher, method: 'POST', headers, body });
}
