import { describe, expect, it } from 'vitest';
import type { Incident } from '#core/business/model-health/incident.ts';
import type { ModelHealth } from '#core/business/model-health/model-health.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { renderAtom } from '../../../plugins/status/atom.ts';
import { describeStatusJson } from '../../../plugins/status/json.ts';
import type { ServiceStatus } from '../../../plugins/status/service-status.ts';
import { statusTexts } from '../../../plugins/status/texts.ts';

const translator = new Translator([statusTexts]);
const at = new Date('2031-05-12T12:00:00Z');

function incident(change: Partial<Incident> = {}): Incident {
  return {
    id: '01234567-89ab-4cde-8f01-23456789abcd',
    model: 'dp/<b>&"',
    kind: 'down',
    cause: 'failing',
    latest: { kind: 'down', cause: 'failing' },
    failedAt: undefined,
    quietSince: undefined,
    lowestAnswered: 0.2599,
    startedAt: Date.parse('2031-05-12T10:00:00Z'),
    openedAt: Date.parse('2031-05-12T10:01:00Z'),
    calmSince: undefined,
    checkedAt: at.getTime(),
    endedAt: Date.parse('2031-05-12T10:38:00Z'),
    ...change,
  };
}

function atomOf(incidents: Incident[], service = 'Daypass'): string {
  const t = translator.in('en');
  return renderAtom({ service, baseUrl: 'https://ai.example.com', language: 'en', t, incidents, at });
}

describe('the Atom feed', () => {
  it('has what RFC 4287 requires of a feed and of each entry', () => {
    const feed = atomOf([incident()]);
    const [head = '', entry = ''] = feed.split('<entry>');
    expect(head).toContain('<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">');
    expect(head).toContain('<id>https://ai.example.com/status</id>');
    expect(head).toContain('<updated>2031-05-12T10:38:00.000Z</updated>');
    expect(head).toContain('<author><name>Daypass</name></author>');
    expect(head).toContain(
      'rel="self" type="application/atom+xml" href="https://ai.example.com/status.atom?language=en"',
    );
    expect(entry).toContain('<id>urn:uuid:01234567-89ab-4cde-8f01-23456789abcd</id>');
    expect(entry).toContain('<published>2031-05-12T10:00:00.000Z</published>');
    expect(entry).toContain(
      '2031-05-12 10:00 UTC to 2031-05-12 10:38 UTC, 38 min. At the lowest point, 25% of requests were answered.',
    );
  });

  it('escapes names, and leaves out what XML cannot hold', () => {
    const feed = atomOf([incident()], 'A & <B>\u0000\u0008');
    expect(feed).toContain('<title>Most requests to dp/&lt;b&gt;&amp;&quot; failed.</title>');
    expect(feed).toContain('<name>A &amp; &lt;B&gt;</name>');
  });

  it('has no entries and changes once a day while nothing happens', () => {
    expect(atomOf([])).toContain('<updated>2031-05-12T00:00:00.000Z</updated>');
    expect(atomOf([])).not.toContain('<entry>');
  });

  it('lists the newest fifty', () => {
    expect(atomOf(Array.from({ length: 60 }, () => incident())).match(/<entry>/g)).toHaveLength(50);
  });
});

describe('the JSON of the status', () => {
  const health: ModelHealth = {
    id: 'dp/a',
    state: 'degraded',
    trouble: { kind: 'degraded', cause: 'slow' },
    since: Date.parse('2031-05-12T10:00:00Z'),
    failedAt: undefined,
    firstTokenMs: 812.6,
    routes: [{ route: 'secret-vendor/a', state: 'open', open_until: null, reason: 'sk-secret' }],
    traffic: undefined,
  };
  const days = [{ day: '2031-05-12', state: 'warn' as const, answered: 0.98765, incidents: [] }];
  const status: ServiceStatus = {
    at,
    health: [health],
    models: [{ health, days, answered: 0.99999 }],
    page: { number: 1, count: 1 },
    incidents: [incident({ endedAt: undefined })],
    credited: new Map(),
    isComplete: true,
    hasHistory: true,
  };

  it('names states, shares rounded down, and incidents', () => {
    expect(JSON.parse(JSON.stringify(describeStatusJson(status, 'Daypass', translator.in('en'), 'en')))).toEqual({
      service: 'Daypass',
      status: 'degraded',
      description: 'The model is degraded',
      updated_at: '2031-05-12T12:00:00.000Z',
      complete: true,
      model_count: 1,
      next: null,
      models: [
        {
          id: 'dp/a',
          status: 'degraded',
          since: '2031-05-12T10:00:00.000Z',
          failed_at: null,
          first_token_ms: 813,
          answered: 0.9999,
          days: [{ date: '2031-05-12', status: 'degraded', answered: 0.9876 }],
        },
      ],
      incidents: [
        {
          id: '01234567-89ab-4cde-8f01-23456789abcd',
          model: 'dp/<b>&"',
          status: 'down',
          title: 'Most requests to dp/<b>&" fail.',
          lowest_answered: 0.2599,
          started_at: '2031-05-12T10:00:00.000Z',
          calm_since: null,
          ended_at: null,
          credited_seconds: null,
          outcome: null,
        },
      ],
    });
  });

  it('leads to the next models, and judges all', () => {
    const worse = { ...health, id: 'dp/z', state: 'down' as const };
    const first = { ...status, health: [worse, health], page: { number: 1, count: 2 } };
    expect(describeStatusJson(first, 'Daypass', translator.in('id'), 'id')).toMatchObject({
      status: 'down',
      model_count: 2,
      next: '/status.json?language=id&page=2',
    });
    const last = { ...first, page: { number: 2, count: 2 } };
    expect(describeStatusJson(last, 'Daypass', translator.in('id'), 'id')).toMatchObject({
      status: 'down',
      next: null,
    });
  });

  it('tells an incident that was over from one without traffic since its last failure', () => {
    const failedAt = Date.parse('2031-05-12T10:31:00Z');
    const quiet = incident({ endedAt: undefined, failedAt, quietSince: at.getTime() });
    const { incidents } = describeStatusJson(
      { ...status, incidents: [incident(), quiet] },
      'x',
      translator.in('en'),
      'en',
    ) as {
      incidents: object[];
    };
    expect(incidents).toMatchObject([
      { ended_at: '2031-05-12T10:38:00.000Z', outcome: 'recovered' },
      { ended_at: '2031-05-12T10:31:00.000Z', outcome: 'no_traffic' },
    ]);
    expect(atomOf([quiet])).toContain('2031-05-12 10:00 UTC to 2031-05-12 10:31 UTC, no traffic since.');
  });

  it('tells an incident whose model was removed from one that was over', () => {
    const removed = incident({ isRemoved: true });
    const { incidents } = describeStatusJson({ ...status, incidents: [removed] }, 'x', translator.in('en'), 'en') as {
      incidents: object[];
    };
    expect(incidents).toMatchObject([{ outcome: 'removed' }]);
    expect(atomOf([removed])).toContain('UTC, then the model was removed from the catalog.');
  });

  it('keeps its own members even if a source of notices has the name of one', () => {
    const notices = { service: [], next: [{}], incidents: [{}], parades: [{ title: 'x' }] };
    expect(describeStatusJson(status, 'Daypass', translator.in('en'), 'en', notices)).toMatchObject({
      service: 'Daypass',
      next: null,
      incidents: [{ model: 'dp/<b>&"' }],
      parades: [{ title: 'x' }],
    });
  });

  it('names no route and no fault', () => {
    expect(JSON.stringify(describeStatusJson(status, 'Daypass', translator.in('id'), 'id'))).not.toMatch(/secret/);
  });
});
