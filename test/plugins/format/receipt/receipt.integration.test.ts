import { beforeAll, describe, expect, it } from 'vitest';
import { type Accepted, accepted, acceptedPairs, acceptedValues, isAccepted } from './accepted.ts';
import { type Probe, type Published, readPublished } from './published.ts';
import { isHeardBeside, mergedValues, receiptOf } from './receipt.ts';
import { type ClientFormatName, type NamedRoute, routes } from './routes.ts';

const clients: readonly ClientFormatName[] = ['chat', 'responses', 'messages', 'gemini'];

let published: Published;
beforeAll(() => {
  ({ Roots: published } = readPublished('Roots'));
}, 60_000);

type Finding = (client: ClientFormatName, to: NamedRoute) => string[];

/** Looks once at each pair: two tests ask about it. */
function once(find: Finding): Finding {
  const known = new Map<string, string[]>();
  return (client, to) => {
    const pair = `${client} ${to.name}`;
    const found = known.get(pair) ?? find(client, to);
    known.set(pair, found);
    return found;
  };
}

/** Members that are lost on a route without a word: none of their values arrives, is refused by its name, or is noted. */
const lostOn = once((client, to) => {
  const heard = new Map<string, boolean>();
  for (const probe of published[client] ?? []) {
    if (heard.get(probe.path) === true) continue;
    const receipt = receiptOf(client, probe, to);
    const isHeard = receipt === 'arrives' || receipt === 'refused' || receipt === 'noted';
    heard.set(probe.path, isHeard);
  }
  return [...heard].filter(([, isHeard]) => !isHeard).map(([path]) => path);
});

/** Members of which two values are sent as one, without a note, and these values. */
const mergedOn = once((client, to) => {
  const wanted = (published[client] ?? []).filter(({ path }) => !isAccepted(accepted[client], path, to.name));
  const members = Map.groupBy(wanted, ({ path }) => path);
  return [...members].flatMap(([path, probes]) => {
    const isHeard = probes.some((probe) => receiptOf(client, probe, to) === 'noted');
    return isHeard ? [] : mergedValues(client, probes, to).map((values) => `${path}: ${values}`);
  });
});

/** Pairs of members of one object, at the top or one level below, of which the first is lost beside the second, though not alone. */
const lostBeside = once((client, to) => {
  const isHeard = (probe: Probe) => ['arrives', 'noted'].includes(receiptOf(client, probe, to));
  const single = (published[client] ?? []).filter(
    ({ path }) => /^\w+(?:\.\w+)?(?:\[\])?$/.test(path) && !isAccepted(accepted[client], path, to.name),
  );
  const heard = [...Map.groupBy(single, ({ path }) => path).values()].flatMap((all) => all.find(isHeard) ?? []);
  return heard.flatMap((one) =>
    heard
      .filter((other) => isBeside(one, other) && !isHeardBeside(client, one, other, to))
      .map((other) => `${one.path} beside ${other.path}`),
  );
});

const parentOf = ({ path }: Probe) => path.slice(0, Math.max(0, path.lastIndexOf('.')));
const nameOf = ({ path }: Probe) => path.replace(/\[\]$/, '');

/** Two forms of one member, such as a text and a list of texts, exclude each other. */
function isBeside(one: Probe, other: Probe): boolean {
  return nameOf(one) !== nameOf(other) && parentOf(one) === parentOf(other);
}

const idleAmong = (list: readonly Accepted[], lost: readonly string[]) =>
  list.filter(({ members }) => !lost.some((one) => members.test(one))).map(({ members }) => members.source);

const plain = routes.filter(({ name }) => name.startsWith('plain '));

describe.each(clients)('every member of a %s request that its vendor publishes', (client) => {
  // On a route of its own format, a member that nothing changes is the client's own bytes.
  const foreign = routes.filter(({ format }) => format !== client);
  const others = plain.filter(({ format }) => format !== client);

  it.each(foreign.map((to) => [to.name, to] as const))(
    'arrives, is refused by its name or is noted on %s',
    (_name, to) => {
      const lost = lostOn(client, to).filter((path) => !isAccepted(accepted[client], path, to.name));
      expect(lost).toEqual([]);
    },
  );

  it.each(others.map((to) => [to.name, to] as const))(
    'has two values that differ, or are noted, on %s',
    (_name, to) => {
      const merged = mergedOn(client, to).filter((path) => !isAccepted(acceptedValues[client], path, to.name));
      expect(merged).toEqual([]);
    },
  );

  it.each(others.map((to) => [to.name, to] as const))('is not lost beside another on %s', (_name, to) => {
    const lost = lostBeside(client, to).filter((pair) => !isAccepted(acceptedPairs[client], pair, to.name));
    expect(lost).toEqual([]);
  });

  it('needs each reason that is listed for merging it, or for losing it because of another', () => {
    const merged = others.flatMap((to) => mergedOn(client, to));
    const lost = others.flatMap((to) => lostBeside(client, to));
    expect(idleAmong(acceptedValues[client], merged)).toEqual([]);
    expect(idleAmong(acceptedPairs[client], lost)).toEqual([]);
  });

  it('has no reason to be lost where it is not', () => {
    const lost = foreign.flatMap((to) => lostOn(client, to));
    expect(idleAmong(accepted[client], lost)).toEqual([]);
  });
});
