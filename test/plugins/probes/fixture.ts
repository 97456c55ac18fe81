import { onTestFinished } from 'vitest';
import type { Catalog, Model, Route } from '#core/config/catalog/catalog.ts';
import { fillIn } from '#core/extension/testing/fill-in.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { formatStage } from '../../../plugins/format/stage.ts';
import { Trials } from '../../../plugins/probes/trials.ts';
import { upstreamStage } from '../../../plugins/upstream/stage.ts';
import { answerAbly } from '../../support/able-model.ts';
import { chatEndpoint } from '../../support/exchange.ts';
import { createUpstream, type FaultyUpstream } from '../../support/faulty-upstream.ts';
import { routeTo, upstreamAt } from '../upstream/fixture.ts';

/** How an upstream deviates from what its route declares. */
export interface Drift {
  /** Changes what it reads of a request. */
  readonly ignores?: (body: JsonObject) => JsonObject;
  /** Changes a whole answer. */
  readonly changes?: (answer: JsonObject, body: JsonObject) => JsonObject;
  /** Sends a stream in one piece. */
  readonly isBuffered?: boolean;
  readonly hidesUsage?: boolean;
  readonly refuses?: (body: JsonObject) => number | undefined;
}

export interface ProbeWorld {
  readonly host: Host;
  readonly trials: Trials;
  readonly model: Model;
  readonly route: Route;
  readonly upstream: FaultyUpstream;
  /** May be replaced at any time. */
  drift: Drift;
  advance(hours: number): void;
}

let worlds = 0;

/** An upstream that does everything, until it drifts; and a host whose only route leads to it. */
export async function openWorld(
  database: Database,
  probes: object = {},
  settings: Partial<Route> = {},
): Promise<ProbeWorld> {
  const upstream = await createUpstream((request, response) => {
    const body = request.json<JsonObject>();
    const refusal = world.drift.refuses?.(body);
    if (refusal !== undefined) return response.json(refusal, { error: { message: 'not today', type: 'odd' } });
    const { drift } = world;
    const read = drift.ignores?.(body) ?? body;
    const chat = answerAbly(read);
    if (body['stream'] !== true) {
      const answer = chat.whole();
      if (drift.hidesUsage === true) delete answer['usage'];
      return response.json(200, drift.changes?.(answer, body) ?? answer);
    }
    const chunks = chat.chunks();
    if (drift.isBuffered === true) return response.json(200, chat.whole());
    response.sse();
    for (const data of chunks) {
      if (drift.hidesUsage === true && typeof data === 'object' && 'usage' in data) delete data['usage'];
      void response.event(data);
    }
    return response.end();
  });
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const name = `up${++worlds}`;
  const route = routeTo(upstreamAt(upstream.url, { name }), settings);
  const model: Model = {
    id: 'test',
    publicName: 'dp/test',
    displayName: 'test',
    kind: 'chat',
    routes: [route],
    maxInputTokens: undefined,
    maxOutputTokens: undefined,
  };
  const catalog: Catalog = {
    models: [model],
    listed: [],
    upstreams: [route.upstream],
    unavailable: [],
    resolve: () => model,
    suggest: () => undefined,
    isUnavailable: () => false,
  };
  const sections = { probes: { enabled: true, context_every_days: 0, ...probes } };
  const inner = createTestHost({ database, catalog, sections });
  onTestFinished(() => inner[Symbol.asyncDispose]());
  const stages = [formatStage, upstreamStage].map((definition) => ({
    definition,
    options: fillIn({}, definition.options, definition.name),
  }));
  const host: Host = { ...inner, stages };
  const definitions = new Map(stages.map(({ definition }) => [definition.name, definition]));
  const trials = await Trials.open(host, { stages: definitions, endpoints: [chatEndpoint] });
  if (trials === undefined) throw new Error('the stages cannot send requests');
  const world: ProbeWorld = {
    host,
    trials,
    model,
    route,
    upstream,
    drift: {},
    advance: (hours) => inner.clock.advance(hours * 3_600_000),
  };
  return world;
}
