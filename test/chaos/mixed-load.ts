import { setTimeout } from 'node:timers/promises';
import { formatAt } from './answers.ts';
import type { Client, Observation } from './client.ts';

/** Clients, and ms that each pauses before its next request: the short form leaves other tests some processor time. */
const loads = { full: { clients: 32, pause: 0 }, short: { clients: 8, pause: 25 } };

/** Requests that must have a record: they got an answer, or their client left. */
export function answered(seen: readonly Observation[]): readonly Observation[] {
  return seen.filter(({ status, ending }) => status !== undefined || ending === 'left');
}

/**
 * Clients that send one request after the other, until the signal aborts or the gateway is gone. The fixture plays `stays-open` with
 * `playOpen`.
 */
export async function sendLoad(
  client: Client,
  seen: Observation[],
  { signal, isShort }: { readonly signal: AbortSignal; readonly isShort: boolean },
): Promise<void> {
  const { clients, pause } = loads[isShort ? 'short' : 'full'];
  const models = ['fine', 'fine', 'status-500', 'fine', 'no-such-model', 'cut', 'stays-open', 'fine'];
  const ask = async (index: number, turn: number): Promise<Observation> => {
    const model = models[(index + turn) % models.length] as string;
    const format = formatAt(Math.floor(index / 2) + turn);
    if (model === 'stays-open') return client.ask({ format, model, isStream: true, leave: 'at content' });
    return client.ask({ format, model, isStream: turn % 2 === 0 });
  };
  const loop = async (index: number) => {
    for (let turn = 0; !signal.aborted; turn++) {
      const observed = await ask(index, turn);
      seen.push(observed);
      if (observed.ending === 'none') return;
      if (pause > 0) await setTimeout(pause);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => loop(index)));
}
