import { beforeAll, describe, expect, it } from 'vitest';
import { acceptedOfAnswers, acceptedOfEvents } from './accepted-answers.ts';
import { acceptedChanges } from './accepted-changes.ts';
import type { Accepted } from './accepted.ts';
import { receiptOfAnswer } from './answers.ts';
import { type Probe, type Published, readPublished } from './published.ts';
import { type ClientFormatName, type NamedRoute, routes } from './routes.ts';
import { changesOf } from './same-format.ts';

const formats: readonly ClientFormatName[] = ['chat', 'responses', 'messages', 'gemini'];
const kinds = ['answer', 'stream'] as const;

let published: Readonly<Record<(typeof kinds)[number], Published>>;
beforeAll(() => {
  const { Answers: answer, Events: stream } = readPublished('Answers', 'Events');
  published = { answer, stream };
}, 60_000);

/** Members that a client does not get, and is not told of: none of their values makes a difference. */
function lostBetween(upstream: ClientFormatName, client: ClientFormatName, kind: (typeof kinds)[number]): string[] {
  const heard = new Map<string, boolean>();
  for (const probe of probesOf(upstream, kind)) {
    if (heard.get(probe.path) === true) continue;
    const isHeard = receiptOfAnswer({ upstream, client, isStream: kind === 'stream' }, probe) !== 'silent';
    heard.set(probe.path, isHeard);
  }
  return [...heard].filter(([, isHeard]) => !isHeard).map(([path]) => path);
}

/** Members of items are those of whole answers: of the events of Responses, the types count. */
function probesOf(upstream: ClientFormatName, kind: (typeof kinds)[number]): readonly Probe[] {
  const probes = published[kind][upstream] ?? [];
  return kind === 'stream' && upstream === 'responses'
    ? probes.filter(({ path }) => /^\([\w.]+\)$/.test(path))
    : probes;
}

const accept = (paths: readonly string[], list: readonly Accepted[]) =>
  paths.filter((path) => !list.some(({ members }) => members.test(path)));
const idleAmong = (list: readonly Accepted[], paths: readonly string[]) =>
  list.filter(({ members }) => !paths.some((path) => members.test(path))).map(({ members }) => members.source);

describe.each(formats.flatMap((upstream) => kinds.map((kind) => [upstream, kind] as const)))(
  'every member of a %s %s that its vendor publishes',
  (upstream, kind) => {
    const clients = formats.filter((client) => client !== upstream);
    const accepted = kind === 'answer' ? acceptedOfAnswers[upstream] : acceptedOfEvents[upstream];

    const known = new Map<ClientFormatName, readonly string[]>();
    const lostFor = (client: ClientFormatName): readonly string[] => {
      const lost = known.get(client) ?? lostBetween(upstream, client, kind);
      known.set(client, lost);
      return lost;
    };

    it.each(clients)('arrives or is noted for a client of %s', (client) => {
      expect(probesOf(upstream, kind).length).toBeGreaterThan(40);
      expect(accept(lostFor(client), accepted)).toEqual([]);
    });

    it('has no reason to be lost where it is not', () => {
      expect(idleAmong(accepted, clients.flatMap(lostFor))).toEqual([]);
    });
  },
);

describe.each(formats)('every member of a %s answer, whole or streamed', (format) => {
  const own = routes.filter((route) => route.format === format);
  const known = new Map<NamedRoute, readonly string[]>();
  const changesOn = (to: NamedRoute): readonly string[] => {
    const changes = known.get(to) ?? kinds.flatMap((kind) => changesOfAll(to, kind));
    known.set(to, changes);
    return changes;
  };
  const changesOfAll = (to: NamedRoute, kind: (typeof kinds)[number]): string[] => [
    ...new Set((published[kind][format] ?? []).flatMap((probe) => changesOf(format, to, probe, kind === 'stream'))),
  ];

  it.each(own.map((to) => [to.name, to] as const))(
    'reaches a client of the same format as it came on %s',
    (_name, to) => {
      expect(accept(changesOn(to), acceptedChanges[format])).toEqual([]);
    },
  );

  it('has no reason to change where it does not', () => {
    expect(idleAmong(acceptedChanges[format], own.flatMap(changesOn))).toEqual([]);
  });
});
