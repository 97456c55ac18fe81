import { callYaml } from '../support/call-yaml.ts';
import { createUpstream, type RecordedRequest, type ScriptedResponse } from '../support/faulty-upstream.ts';
import { type TextFormat, textFormats, type UpstreamTextFormat, upstreamTextFormats } from '../support/formats.ts';
import { openGatewayHome } from '../support/gateway-home.ts';
import { clients } from './clients/index.ts';
import type { Answer, Failure } from './conversation.ts';
import { upstreams } from './upstreams/index.ts';

/** A gateway between clients and upstreams of every format. Used by one cell at a time. */
export interface ConformanceFixture extends AsyncDisposable {
  readonly url: string;
  readonly key: string;
  /** The next answers of the upstreams. */
  answer: Answer | Failure;
  /** The requests they received. */
  readonly requests: readonly RecordedRequest[];
}

/** The upstreams' only model. */
export const modelThere = 'there';

/** The vendor that owns each format, so that losses come from the format only. */
export const vendorOf: Readonly<Record<UpstreamTextFormat, string>> = {
  chat: 'openai',
  responses: 'openai',
  messages: 'anthropic',
  gemini: 'gemini',
  ollama: 'ollama-native',
};

export interface Place {
  readonly client: TextFormat;
  readonly upstream: UpstreamTextFormat;
  readonly isStream: boolean;
  /** A failure puts the key into cooldown, so each failure has its own upstream. */
  readonly failure?: Failure | undefined;
  readonly isElsewhere?: boolean | undefined;
}

/** The short name of a cell's model. */
export function modelFor({ client, upstream, isStream, failure, isElsewhere }: Place): string {
  if (failure === undefined) return isElsewhere === true ? `${upstream}-elsewhere` : upstream;
  return `${upstream}-${client}-${isStream ? 'streamed' : 'whole'}-${failure.replaceAll(' ', '-')}`;
}

/** @param databaseUrl a migrated, empty database of a PostgreSQL */
export async function openConformanceFixture(databaseUrl: string): Promise<ConformanceFixture> {
  await using resources = new AsyncDisposableStack();
  const fixture = { answer: 'bad key' as Answer | Failure };
  const upstream = resources.use(await createUpstream((request, response) => reply(request, response, fixture.answer)));
  const home = resources.use(await openGatewayHome(databaseUrl, writeYaml(upstream.url)));
  const { url } = resources.use(await home.start());
  const owned = resources.move();
  return Object.assign(fixture, {
    url,
    key: home.key,
    requests: upstream.requests,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}

/** The format of an upstream request, and whether it asks for a stream; undefined for any other request. */
export function askedAs({
  path,
  json,
}: RecordedRequest): { format: UpstreamTextFormat; isStream: boolean } | undefined {
  const places = upstreamTextFormats.flatMap((format) => [true, false].map((isStream) => ({ format, isStream })));
  return places.find(({ format, isStream }) => {
    if (path !== `/v1${upstreams[format].path(modelThere, isStream)}`) return false;
    return format === 'gemini' || (json()['stream'] === true) === isStream;
  });
}

function reply(request: RecordedRequest, response: ScriptedResponse, answer: Answer | Failure): void {
  const asked = askedAs(request);
  if (asked === undefined) return response.json(404, { error: { message: `no upstream at ${request.path}` } });
  const upstream = upstreams[asked.format];
  if (typeof answer === 'string') {
    const { status, body } = upstream.failures[answer];
    return response.json(status, body, answer === 'rate limit' ? { 'retry-after': '7' } : {});
  }
  const suited = asked.format === 'responses' ? unstopped(answer) : answer;
  const isStream = asked.isStream !== (answer.isOtherKind === true);
  if (!isStream) return response.json(200, upstream.whole(suited, modelThere));
  const stream = upstream.frame(upstream.events(suited, modelThere));
  response.send(200, { 'content-type': upstream.streamType ?? 'text/event-stream' }, stream);
}

/** An upstream without stop sequences continues after one. */
function unstopped(answer: Answer): Answer {
  if (answer.unstopped === undefined) return answer;
  return {
    ...answer,
    blocks: [...answer.blocks.slice(0, -1), continuation(answer)],
    end: 'stop',
    stopSequence: undefined,
  };
}

function continuation({ blocks, unstopped: more }: Answer): Answer['blocks'][number] {
  const last = blocks.at(-1);
  return { type: 'text', text: `${last?.type === 'text' ? last.text : ''}${more ?? ''}` };
}

function writeYaml(url: string): string {
  const upstreamLines: string[] = [];
  const modelLines: string[] = [];
  const add = (name: string, format: UpstreamTextFormat): void => {
    upstreamLines.push(
      `  up-${name}: { vendor: ${vendorOf[format]}, format: ${format}, base_url: "${url}/v1", api_keys: [key-of-${name}] }`,
    );
    modelLines.push(`  ${name}: { routes: [up-${name}/${modelThere}] }`);
  };
  for (const upstream of upstreamTextFormats) {
    add(upstream, upstream);
    add(`${upstream}-elsewhere`, upstream);
    for (const client of textFormats) {
      for (const isStream of [true, false]) {
        for (const failure of Object.keys(clients[client].failures) as Failure[]) {
          add(modelFor({ client, upstream, isStream, failure }), upstream);
        }
      }
    }
  }
  return `balances: { ask: false }
retirements: { ask: false }
${callYaml(upstreamLines, modelLines)}`;
}
