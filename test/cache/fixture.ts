import type { Answer } from '../conformance/conversation.ts';
import { upstreams } from '../conformance/upstreams/index.ts';
import { callYaml } from '../support/call-yaml.ts';
import { createUpstream, type RecordedRequest, type ScriptedResponse } from '../support/faulty-upstream.ts';
import type { TextFormat } from '../support/formats.ts';
import { openGatewayHome } from '../support/gateway-home.ts';
import { cacheKeyOf, conversationOf, type Prompt, readPrompt } from './prompt.ts';
import { type Reading, rulesOf, VendorCache } from './vendor-cache.ts';

export type VendorKind = keyof typeof rulesOf;

export const vendorKinds = Object.keys(rulesOf) as VendorKind[];

/** The format of each vendor, and the preset with its quirks. */
export const vendors: Readonly<Record<VendorKind, { readonly format: TextFormat; readonly preset: string }>> = {
  chat: { format: 'chat', preset: 'openai' },
  responses: { format: 'responses', preset: 'openai' },
  messages: { format: 'messages', preset: 'anthropic' },
  gemini: { format: 'gemini', preset: 'gemini' },
  deepseek: { format: 'chat', preset: 'deepseek' },
};

/** Routes and keys of a model. */
export const layouts = {
  /** One route, one key. */
  one: { places: ['a'], keys: 1, isEqual: true },
  /** Three equal routes with two keys each. */
  three: { places: ['a', 'b', 'c'], keys: 2, isEqual: true },
  /** One route after the other. */
  backup: { places: ['a', 'b'], keys: 1, isEqual: false },
} as const;
export type Layout = keyof typeof layouts;

/** A request as the vendor got it. */
export interface Seen {
  readonly conversation: string;
  /** Route and key. */
  readonly place: string;
  readonly prompt: Prompt;
  readonly reading: Reading;
}

/** A gateway before vendors that cache prompts as they document it. Used by one conversation at a time. */
export interface CacheFixture extends AsyncDisposable {
  readonly url: string;
  readonly key: string;
  readonly vendorUrl: string;
  /** The next answer. */
  answer: Omit<Answer, 'usage'>;
  /** Seconds. */
  now: number;
  /** Place that is down. */
  down: string | undefined;
  /** Requests since the last reset. */
  readonly seen: readonly Seen[];
  /** Empties the caches of all vendors. */
  reset(): void;
}

/** @param databaseUrl a migrated, empty database of a PostgreSQL */
export async function openCacheFixture(databaseUrl: string): Promise<CacheFixture> {
  await using resources = new AsyncDisposableStack();
  const caches = new Map<string, VendorCache>();
  const seen: Seen[] = [];
  const fixture = {
    answer: { blocks: [], end: 'stop' } as Omit<Answer, 'usage'>,
    now: 0,
    down: undefined as string | undefined,
  };
  const answer = (request: RecordedRequest, response: ScriptedResponse) => {
    const [, kind, place] = /^\/([a-z]+)-([a-z])\//.exec(request.path) ?? [];
    if (kind === undefined || place === undefined || !(kind in rulesOf)) return response.json(404, {});
    if (place === fixture.down) return response.json(503, { error: { message: 'overloaded', type: 'server_error' } });
    const { format } = vendors[kind as VendorKind];
    const body = request.json() as Parameters<typeof readPrompt>[0];
    const prompt = readPrompt(body);
    const account = `${kind}-${place} ${keyOf(request)}`;
    const cache = caches.get(account) ?? new VendorCache(rulesOf[kind as VendorKind]);
    caches.set(account, cache);
    const reading = cache.read(prompt, cacheKeyOf(format, body), fixture.now);
    seen.push({ conversation: conversationOf(prompt), place: account, prompt, reading });
    const upstream = upstreams[format];
    const whole = { ...fixture.answer, usage: { ...reading, output: 40, thinking: 0 } };
    const isStream = body['stream'] === true || request.path.includes('streamGenerateContent');
    if (!isStream) return response.json(200, upstream.whole(whole, modelThere));
    const stream = upstream.frame(upstream.events(whole, modelThere));
    response.send(200, { 'content-type': 'text/event-stream' }, stream);
  };
  const upstream = resources.use(await createUpstream(answer, { keeps: false }));
  const home = resources.use(await openGatewayHome(databaseUrl, writeYaml(upstream.url)));
  const { url } = resources.use(await home.start());
  const owned = resources.move();
  return Object.assign(fixture, {
    url,
    key: home.key,
    vendorUrl: upstream.url,
    seen,
    reset() {
      caches.clear();
      seen.length = 0;
      fixture.down = undefined;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}

export const modelThere = 'there';

function keyOf({ headers }: RecordedRequest): string {
  return String(headers['authorization'] ?? headers['x-api-key'] ?? headers['x-goog-api-key']);
}

function writeYaml(url: string): string {
  const upstreamLines: string[] = [];
  const modelLines: string[] = [];
  for (const kind of vendorKinds) {
    const { format, preset } = vendors[kind];
    for (const [layout, { places, keys, isEqual }] of Object.entries(layouts)) {
      const routes = places.map((place) => {
        const name = `${layout}-${kind}-${place}`;
        const listed = Array.from({ length: keys }, (_, index) => `key-${index + 1}-of-${name}`);
        upstreamLines.push(
          `  ${name}: { vendor: ${preset}, format: ${format}, base_url: "${url}/${kind}-${place}/v1", api_keys: [${listed.join(', ')}] }`,
        );
        return isEqual ? `{ to: ${name}/${modelThere}, priority: 0 }` : `${name}/${modelThere}`;
      });
      modelLines.push(`  ${layout}-${kind}: { routes: [${routes.join(', ')}] }`);
    }
  }
  return callYaml(upstreamLines, modelLines);
}
