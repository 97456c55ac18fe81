import { beforeAll, describe, expect, it } from 'vitest';
import { acceptedEvents, acceptedOfAnswers } from './accepted-answers.ts';
import { receiptOfAnswer, receiptOfEvent } from './answers.ts';
import { type Probe, readPublished } from './published.ts';
import type { ClientFormatName } from './routes.ts';

const formats: readonly ClientFormatName[] = ['chat', 'responses', 'messages', 'gemini'];

let published: Readonly<Record<string, readonly Probe[]>>;
beforeAll(() => {
  published = readPublished('Answers');
}, 60_000);

/** Members of answers that a client does not get, and is not told of: none of their values makes a difference. */
function lostBetween(upstream: ClientFormatName, client: ClientFormatName): string[] {
  const heard = new Map<string, boolean>();
  for (const probe of published[upstream] ?? []) {
    const isHeard = receiptOfAnswer(upstream, client, probe) !== 'silent';
    heard.set(probe.path, (heard.get(probe.path) ?? false) || isHeard);
  }
  return [...heard].filter(([, isHeard]) => !isHeard).map(([path]) => path);
}

describe.each(formats)('every member of a %s answer that its vendor publishes', (upstream) => {
  const clients = formats.filter((client) => client !== upstream);

  it.each(clients)('arrives or is noted for a client of %s', (client) => {
    const isAccepted = (path: string) => acceptedOfAnswers[upstream].some(({ members }) => members.test(path));
    const lost = lostBetween(upstream, client).filter((path) => !isAccepted(path));
    expect(lost).toEqual([]);
  });

  it('has no reason to be lost where it is not', () => {
    const lost = clients.flatMap((client) => lostBetween(upstream, client));
    const idle = acceptedOfAnswers[upstream].filter(({ members }) => !lost.some((path) => members.test(path)));
    expect(idle.map(({ members }) => members.source)).toEqual([]);
  });
});

describe('every event of a streamed response that OpenAI publishes', () => {
  let events: readonly Probe[];
  beforeAll(() => {
    events = readPublished('Events')['responses']?.filter(({ path }) => /^\([\w.]+\)$/.test(path)) ?? [];
  }, 60_000);

  const silentFor = (client: ClientFormatName) =>
    events.filter(({ value }) => receiptOfEvent(client, value) === 'silent').map(({ path }) => path.slice(1, -1));

  it.each(formats.filter((client) => client !== 'responses'))('arrives or is noted for a client of %s', (client) => {
    expect(events.length).toBeGreaterThan(40);
    expect(silentFor(client).filter((type) => !acceptedEvents.some(({ members }) => members.test(type)))).toEqual([]);
  });

  it('has no reason to be lost where it is not', () => {
    const lost = new Set(formats.filter((client) => client !== 'responses').flatMap(silentFor));
    const idle = acceptedEvents.filter(({ members }) => ![...lost].some((type) => members.test(type)));
    expect(idle.map(({ members }) => members.source)).toEqual([]);
  });
});
