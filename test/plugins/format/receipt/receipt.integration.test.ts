import { beforeAll, describe, expect, it } from 'vitest';
import { accepted } from './accepted.ts';
import { type Probe, readPublished } from './published.ts';
import { receiptOf } from './receipt.ts';
import { type ClientFormatName, type NamedRoute, routes } from './routes.ts';

const clients: readonly ClientFormatName[] = ['chat', 'responses', 'messages', 'gemini'];

let published: Readonly<Record<string, readonly Probe[]>>;
beforeAll(() => {
  published = readPublished();
}, 60_000);

/** Members that are lost on a route without a word: none of their values arrives, is refused by its name, or is noted. */
function lostOn(client: ClientFormatName, to: NamedRoute): string[] {
  const heard = new Map<string, boolean>();
  for (const probe of published[client] ?? []) {
    const receipt = receiptOf(client, probe, to);
    const isHeard = receipt === 'arrives' || receipt === 'refused' || receipt === 'noted';
    heard.set(probe.path, (heard.get(probe.path) ?? false) || isHeard);
  }
  return [...heard].filter(([, isHeard]) => !isHeard).map(([path]) => path);
}

describe.each(clients)('every member of a %s request that its vendor publishes', (client) => {
  // On a route of its own format, a member that nothing changes is the client's own bytes.
  const foreign = routes.filter(({ format }) => format !== client);

  it.each(foreign.map((to) => [to.name, to] as const))(
    'arrives, is refused by its name or is noted on %s',
    (_name, to) => {
      const lost = lostOn(client, to).filter((path) => !accepted[client].some(({ members }) => members.test(path)));
      expect(lost).toEqual([]);
    },
  );

  it('has no reason to be lost where it is not', () => {
    const lost = foreign.flatMap((to) => lostOn(client, to));
    const idle = accepted[client].filter(({ members }) => !lost.some((path) => members.test(path)));
    expect(idle.map(({ members }) => members.source)).toEqual([]);
  });
});
