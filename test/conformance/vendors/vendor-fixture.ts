import { setTimeout } from 'node:timers/promises';
import type { JsonObject } from '#core/platform/json.ts';
import { vendors } from '../../../plugins/upstream/vendors.ts';
import { callYaml } from '../../support/call-yaml.ts';
import { createUpstream, type RecordedRequest, type ScriptedResponse } from '../../support/faulty-upstream.ts';
import { textFormats } from '../../support/formats.ts';
import { openGatewayHome } from '../../support/gateway-home.ts';
import { type Answer, compact, objectOf, objectsOf } from '../conversation.ts';
import { upstreams } from '../upstreams/index.ts';
import { descriptions } from './descriptions.ts';
import { type Fault, scenarios } from './scenarios.ts';
import type { Endpoint, EndpointFormat, VendorDescription } from './vendor.ts';

/** A gateway between clients and odd vendors. Used by one cell at a time. */
export interface VendorFixture extends AsyncDisposable {
  readonly url: string;
  readonly key: string;
  /** The next answer of the vendors. */
  next: Next;
  readonly requests: readonly RecordedRequest[];
  /** What vendors would refuse. They answer anyway, so that a cell finds as much as possible. */
  readonly complaints: string[];
}

interface Next {
  readonly answer: Answer;
  readonly fault?: Fault | undefined;
  /** Resolves when the client has received the beginning of the answer; a fault in the middle follows it. */
  readonly begun: Promise<void>;
}

/** An endpoint that a request asks. */
export interface Place {
  readonly vendor: VendorDescription;
  readonly format: EndpointFormat;
  readonly endpoint: Endpoint;
  readonly isStream: boolean;
}

const plain: Endpoint = { rules: [], oddities: [] };
/** Answers the first turn of conversations that then move to the vendor. */
const elsewhere: VendorDescription = {
  name: 'elsewhere',
  model: 'there',
  endpoints: { chat: plain, responses: plain, messages: plain, gemini: plain },
  refusal: () => ({ status: 400, body: {} }),
};

/** The model that answers in a client's format before the conversation moves. */
export const modelElsewhere = (format: string): string => `elsewhere-${format}`;

/** The model of a cell. A fault opens breakers and puts keys into cooldown, so each has its own upstream. */
export function modelFor(vendor: string, client: string, isStream: boolean, fault?: Fault): string {
  if (fault === undefined) return vendor;
  return `${vendor}-${client}-${isStream ? 'streamed' : 'whole'}-${fault.replaceAll(' ', '-')}`;
}

/** @param databaseUrl a migrated, empty database of a PostgreSQL */
export async function openVendorFixture(databaseUrl: string): Promise<VendorFixture> {
  await using resources = new AsyncDisposableStack();
  const complaints: string[] = [];
  const fixture = { next: undefined as unknown as Next };
  const upstream = resources.use(
    await createUpstream((request, response) => serve(request, response, fixture.next, complaints)),
  );
  const home = resources.use(await openGatewayHome(databaseUrl, writeYaml(upstream.url)));
  const { url } = resources.use(await home.start());
  const owned = resources.move();
  return Object.assign(fixture, {
    url,
    key: home.key,
    requests: upstream.requests,
    complaints,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}

/** True when the gateway has a preset for the vendor. */
export function hasPreset({ name }: VendorDescription): boolean {
  return vendors.some((vendor) => vendor.name === name);
}

/** Undefined for a request to an endpoint that its vendor does not have. */
export function placeOf(request: RecordedRequest): Place | undefined {
  const [, name = '', path = ''] = /^\/([^/]+)(\/[^?]*)/.exec(request.path) ?? [];
  const vendor = [...descriptions, elsewhere].find((one) => one.name === name);
  if (vendor === undefined) return undefined;
  const endpoints = Object.entries(vendor.endpoints) as [EndpointFormat, Endpoint][];
  const places = endpoints.flatMap(([format, endpoint]) =>
    [true, false].map((isStream) => ({ vendor, format, endpoint, isStream })),
  );
  return places.find(({ format, isStream }) => {
    if (path !== upstreams[format].path(vendor.model, isStream).split('?')[0]) return false;
    return format === 'gemini' || (request.json()['stream'] === true) === isStream;
  });
}

function serve(
  request: RecordedRequest,
  response: ScriptedResponse,
  next: Next,
  complaints: string[],
): void | Promise<void> {
  const place = placeOf(request);
  if (place === undefined) {
    complaints.push(`no upstream at ${request.path}`);
    return response.json(404, { error: { message: 'not found' } });
  }
  const body = request.json<JsonObject>();
  for (const rule of place.endpoint.rules) {
    const complaint = rule({ body, headers: request.headers });
    if (complaint !== undefined) complaints.push(complaint);
  }
  if (next.fault === undefined) return answer(response, place, asFunctions(stopped(next.answer, body), body));
  return fail(response, place, next, next.fault);
}

function answer(response: ScriptedResponse, place: Place, scripted: Answer): void {
  const { vendor, endpoint, format, isStream } = place;
  if (!isStream) {
    const whole = upstreams[format].whole(odd(endpoint, scripted), vendor.model);
    return response.json(
      200,
      endpoint.oddities.reduce((so, { whole: change }) => change?.(so) ?? so, whole),
    );
  }
  const events = oddEvents(place, scripted);
  const stream = upstreams[format].frame(events);
  response.head(200, { 'content-type': 'text/event-stream' });
  void response.write(endpoint.oddities.reduce((so, { frame }) => frame?.(so) ?? so, stream));
  if (vendor.staysOpen !== true) response.end();
}

function odd({ oddities }: Endpoint, scripted: Answer): Answer {
  return oddities.reduce((so, { answer: change }) => change?.(so) ?? so, scripted);
}

function oddEvents({ vendor, endpoint, format }: Place, scripted: Answer): JsonObject[] {
  const events = upstreams[format].events(odd(endpoint, scripted), vendor.model);
  return endpoint.oddities.reduce((so, { events: change }) => change?.(so) ?? so, events);
}

async function fail(
  response: ScriptedResponse,
  place: Place,
  { answer: scripted, begun }: Next,
  fault: Fault,
): Promise<void> {
  const { vendor, endpoint, format, isStream } = place;
  const refusal = vendor.refusal('The request is out of order.');
  if (fault === 'refused') return response.json(refusal.status, refusal.body);
  if (fault === 'rate limit') {
    const { status, body } = vendor.tooMany ?? { status: 429, body: refusal.body };
    return response.json(status, body, { 'retry-after': '7' });
  }
  if (!isStream) {
    response.head(fault === 'broken answer' ? 200 : 500, {
      'content-type': 'application/json',
      'content-length': '400',
    });
    void response.write('{"id":"chat');
    return response.cut();
  }
  // Up to the middle, where there is text and no end.
  const events = oddEvents(place, { ...scripted, end: 'stop' });
  const half = events.slice(0, 1 + events.findIndex((event) => JSON.stringify(event).includes('it up n')));
  response.head(200, { 'content-type': 'text/event-stream' });
  await response.write(frameOf(format, half));
  await Promise.race([begun, setTimeout(10_000, undefined, { ref: false })]);
  if (fault === 'broken answer') return response.cut();
  response.end(frameOf(format, [endpoint.failure ?? failures[format]]));
}

const failures: Readonly<Record<EndpointFormat, JsonObject>> = {
  chat: { error: { message: 'Internal server error', type: 'server_error', param: null, code: 500 } },
  messages: { type: 'error', error: { type: 'api_error', message: 'Internal server error' } },
  responses: {
    type: 'error',
    code: 'server_error',
    message: 'Internal server error',
    param: null,
    sequence_number: 99,
  },
  gemini: { error: { code: 500, message: 'Internal error', status: 'INTERNAL' } },
};

/** Without an end of the stream. */
function frameOf(format: EndpointFormat, events: readonly JsonObject[]): string {
  return upstreams[format].frame(events.map(compact)).replace(/data: \[DONE\]\n\n$/, '');
}

/** A model that received no stop sequences continues after one. */
function stopped(scripted: Answer, body: JsonObject): Answer {
  const { unstopped, stopSequence } = scripted;
  if (unstopped === undefined) return scripted;
  const known = [body['stop'], body['stop_sequences'], objectOf(body['generationConfig'])['stopSequences']].flat();
  if (known.includes(stopSequence)) return scripted;
  const text = scripted.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { ...scripted, blocks: [{ type: 'text', text: `${text}${unstopped}` }], end: 'stop', stopSequence: undefined };
}

/** A model that knows no freeform tools calls them as functions with one argument. */
function asFunctions(scripted: Answer, { tools }: JsonObject): Answer {
  if (objectsOf(tools).some(({ type }) => type === 'custom')) return scripted;
  const blocks = scripted.blocks.map((block) =>
    block.type === 'call' && typeof block.input === 'string' ? { ...block, input: { input: block.input } } : block,
  );
  return { ...scripted, blocks };
}

export function writeYaml(url: string): string {
  const upstreamLines: string[] = [];
  const modelLines: string[] = [];
  const add = (name: string, settings: string, model: string): void => {
    upstreamLines.push(`  up-${name}: { ${settings}, api_keys: [key-of-${name}] }`);
    modelLines.push(`  ${name}: { routes: ["up-${name}/${model}"] }`);
  };
  const faults = scenarios.flatMap(({ turns }) => turns.flatMap(({ fault }) => fault ?? []));
  for (const { name, model } of descriptions.filter(hasPreset)) {
    const settings = `vendor: ${name}, base_url: "${url}/${name}"`;
    add(name, settings, model);
    for (const client of textFormats) {
      for (const isStream of [true, false]) {
        for (const fault of faults) add(modelFor(name, client, isStream, fault), settings, model);
      }
    }
  }
  for (const format of textFormats) {
    add(modelElsewhere(format), `format: ${format}, base_url: "${url}/elsewhere"`, elsewhere.model);
  }
  // The vendors' other endpoints are not scripted.
  return `balances: { ask: false }
retirements: { ask: false }
${callYaml(upstreamLines, modelLines)}`;
}
