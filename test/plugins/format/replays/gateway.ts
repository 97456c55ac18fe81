import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { parseDocument } from '#core/config/file/document.ts';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import { assemble } from '#core/extension/assembly.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { adapter } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Adapter, Usage } from '#core/gateway/model-call/adapter.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { createLogger } from '#core/platform/logger.ts';
import { createExchange } from '../../../support/exchange.ts';
import type { TextFormat } from '../../../support/formats.ts';
import { type Recording, recordings } from './recordings.ts';
import { nextTurns, requests } from './requests.ts';

const { registry } = await assemble(
  undefined,
  createLogger(() => undefined),
  () => host,
);
const catalog = buildCatalog(configured(recordings), registry.vendors, registry.formats);
const keep: Host['keep'] = (_key, create) => create();
const host = { catalog, now: () => Date.now(), keep } as Host;
const stage = await registry.stages.get('format')?.create({}, host);

/** A client's request to the vendor of a recording, whose answer can be played any number of times. */
export interface Replay {
  readonly call: Adapter;
  readonly route: Route;
}

/** The answer that a client gets for a recording. */
export interface Played {
  readonly body: string;
  /** For the record of the request. */
  readonly usage: Usage | undefined;
}

/** @param more members of the client's request */
export async function replay(
  client: TextFormat,
  { name, expected }: Recording,
  isStream: boolean,
  more: JsonObject | undefined = name.startsWith(client) ? expected.request : undefined,
): Promise<Replay> {
  const exchange = createExchange({
    endpoint: endpointOf(client, isStream),
    params: client === 'gemini' ? { id: name } : {},
    body: { ...requests[client], ...(client !== 'gemini' && { model: name, stream: isStream }), ...more },
  });
  await stage?.enter?.(exchange);
  const [route] = (catalog.resolve(name) as Model).routes;
  return { call: exchange.get(adapter), route: route as Route };
}

/** The request for the next turn, as the vendor of a recording gets it. @param answer the client's, whole */
export async function nextRequest(client: TextFormat, recording: Recording, answer: JsonObject): Promise<string> {
  const { call, route } = await replay(client, recording, false, nextTurns[client](answer));
  return String(call.encode(route).body);
}

/** Plays a stream in these pieces, as the upstream stage does: one that breaks off ends with an error. */
export function playStream({ call, route }: Replay, pieces: Iterable<Buffer>): Played {
  const reader = call.read(route);
  const got: Buffer[] = [];
  for (const piece of pieces) {
    got.push(reader.push(piece));
    if (reader.failure !== undefined) break;
  }
  if (reader.failure === undefined) got.push(reader.end());
  const cut = reader.isComplete ? undefined : new GatewayError('upstream_failed', 'the answer broke off');
  const error = reader.failure ?? cut;
  const ending = error === undefined ? '' : reader.renderFailure(error);
  return { body: Buffer.concat(got).toString() + ending, usage: reader.usage };
}

/** The events of a stream and its comments, or the lines of one in NDJSON, byte for byte. */
export function eventsIn(stream: Buffer): Buffer[] {
  const text = stream.toString('latin1');
  const ends = text.startsWith('{') ? /(?<=\n)/ : /(?<=\r\n\r\n|\n\n)/;
  return text.split(ends).map((event) => Buffer.from(event, 'latin1'));
}

/** @throws GatewayError where the answer is an error */
export function playWhole({ call, route }: Replay, whole: Buffer): Played {
  const { body, usage } = call.read(route).whole(whole, 'application/json');
  return { body: body.toString(), usage };
}

/** Plays a stream to a client that wants the whole answer, or a whole answer to one that wants a stream. */
export function playConverted({ call, route }: Replay, body: Buffer, isStream: boolean): Played {
  const converted = call.read(route).convert?.(body, isStream);
  return { body: String(converted?.body), usage: converted?.usage };
}

/** A gateway.yaml with a model for each recording, whose one route has the recording's format and vendor. */
function configured(all: readonly Recording[]) {
  const upstreams = all.map(({ name, format, expected: { vendor } }) => {
    const where = vendor === undefined ? { base_url: 'https://vendor.test/v1' } : { vendor, api_keys: ['k'] };
    return [upstreamName(name), { format, ...where }];
  });
  const models = all.map(({ name, expected: { model = 'model-there', quirks = {} } }) => {
    return [name, { routes: [{ to: `${upstreamName(name)}/${model}`, quirks }] }];
  });
  const sections = { upstreams: Object.fromEntries(upstreams), models: Object.fromEntries(models) };
  // JSON is YAML.
  const text = JSON.stringify({ pipeline: ['format', { upstream: false }, { log: false }], ...sections });
  return validate(parseDocument(text, '/etc/daypass/gateway.yaml', {}), registry);
}

function upstreamName(name: string): string {
  return name.replace('/', '-');
}

function endpointOf(client: TextFormat, isStream: boolean): Endpoint {
  const geminiName = isStream ? 'stream_generate_content' : 'generate_content';
  const wanted = client === 'gemini' ? geminiName : client;
  return registry.endpoints.find(({ name }) => name === wanted) as Endpoint;
}
