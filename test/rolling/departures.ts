import { once } from 'node:events';
import type { Server } from 'node:http';
import { Agent, request } from 'undici';
import { endlessPrompt } from './upstream.ts';

/** Ms within which the upstream must hear that the client has left: the gateway sends nothing that would tell it. */
const atOnce = 3_000;
/** Ms for a call to reach the upstream. */
const arrival = 15_000;

export interface LeavingClient {
  readonly url: string;
  readonly key: string;
  readonly upstream: Server;
}

/** Clients that leave before anything is answered. @returns those whose calls went on */
export async function leave(client: LeavingClient, count: number): Promise<object[]> {
  const left: object[] = [];
  for (let index = 0; index < count; index++) {
    const isStream = index % 2 === 0;
    if (!(await isNoticed(client, isStream))) left.push({ kind: isStream ? 'stream' : 'request', after: atOnce });
  }
  return left;
}

async function isNoticed({ url, key, upstream }: LeavingClient, isStream: boolean): Promise<boolean> {
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  const leaving = new AbortController();
  const asked = once(upstream, 'asked', { signal: AbortSignal.timeout(arrival) });
  const call = request(`${url}/v1/chat/completions`, {
    method: 'POST',
    dispatcher: agent,
    signal: leaving.signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'dp/rolled',
      stream: isStream,
      messages: [{ role: 'user', content: endlessPrompt }],
    }),
  }).catch(() => undefined);
  try {
    await asked;
    const left = once(upstream, 'left', { signal: AbortSignal.timeout(atOnce) });
    leaving.abort();
    return await left.then(
      () => true,
      () => false,
    );
  } finally {
    leaving.abort();
    await call;
    await agent.destroy();
  }
}
