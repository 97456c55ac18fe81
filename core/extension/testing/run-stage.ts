import { Readable } from 'node:stream';
import { detectDialect } from '#core/gateway/http/dialect.ts';
import { EndpointTable, type EndpointMatch } from '#core/gateway/http/paths.ts';
import { parseJsonBody } from '#core/gateway/http/request-body.ts';
import { type BodySource, Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Fact } from '#core/gateway/pipeline/fact.ts';
import { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { AnyStageDefinition, Outcome } from '#core/gateway/pipeline/stage.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { assemble } from '../assembly.ts';
import { fillIn } from './fill-in.ts';
import { chatReply } from './replies.ts';
import { createTestHost, type TestHost } from './test-host.ts';

/** A fact that an earlier stage would have set. */
export interface GivenFact {
  applyTo(exchange: Exchange): void;
}

/** The request that a stage gets, and its surroundings. */
export interface StageRunOptions {
  /** The stage's options, as written in gateway.yaml. */
  readonly options?: object;
  /** Method and path of any endpoint of the built-in plugins; default: POST `/v1/chat/completions`. */
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON. */
  readonly body?: object | string;
  readonly facts?: readonly GivenFact[];
  /** The reply of the stages after this one; default: a short non-streaming reply. */
  readonly answer?: Reply | ((exchange: Exchange) => Reply | Promise<Reply>);
  readonly host?: TestHost;
}

export interface StageRun {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as the client receives it, up to an error if there is one. */
  readonly text: string;
  /** Error that ended a streamed body. */
  readonly error: unknown;
  readonly outcome: Outcome;
  readonly exchange: Exchange;
  readonly host: TestHost;
}

/** Sets a fact for `runStage`, such as `given(principal, { accountId: 'a1', … })`. */
export function given<T>(fact: Fact<T>, value: T): GivenFact {
  return { applyTo: (exchange) => exchange.set(fact, value) };
}

// Loaded together with this module, because loading every plugin within a test could exceed the test's timeout.
const endpoints = await listEndpoints();

/**
 * Runs one stage on one exchange, from `create` to its release; `answer` stands in for the later stages. Errors become replies in the
 * client's format, and faults are logged to `host.lines`, as in the gateway.
 */
export async function runStage(stage: AnyStageDefinition, options: StageRunOptions = {}): Promise<StageRun> {
  const host = options.host ?? createTestHost();
  const stageOptions = fillIn(options.options ?? {}, stage.options, stage.name);
  const exchange = createExchange(options, host);
  for (const fact of options.facts ?? []) fact.applyTo(exchange);
  const { answer = chatReply('Hello!') } = options;
  const pipeline = new Pipeline(
    [
      { name: stage.name, stage: await stage.create(stageOptions, host) },
      { name: 'answer', stage: { enter: () => () => (typeof answer === 'function' ? answer(exchange) : answer) } },
    ],
    host.log,
  );
  pipeline.activate();
  pipeline.start(exchange);
  const reply = await pipeline.answer(exchange);
  const { text, error } = await readBody(reply);
  const outcome = createOutcome(reply, text, error, exchange);
  await pipeline.finish(exchange, outcome);
  await pipeline.retire();
  const { status, headers } = reply;
  return { status, headers, text, error, outcome, exchange, host };
}

function createExchange(options: StageRunOptions, host: TestHost): Exchange {
  const { method = 'POST', path = '/v1/chat/completions', headers = {}, body = '' } = options;
  const url = new URL(path, 'http://localhost');
  const { endpoint, params } = findEndpoint(method, url.pathname);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const source: BodySource = {
    bytes: async () => Buffer.from(text),
    text: async () => text,
    json: async () => parseJsonBody(text),
  };
  const receivedHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return new Exchange({
    id: 'req_test',
    endpoint,
    params,
    dialect: detectDialect(endpoint, receivedHeaders),
    method,
    path: url.pathname,
    query: url.searchParams,
    headers: receivedHeaders,
    remoteAddress: '127.0.0.1',
    receivedAt: host.now(),
    body: source,
  });
}

function findEndpoint(method: string, path: string): EndpointMatch {
  const match = endpoints.findEndpoint(method, path);
  if (match !== undefined && 'endpoint' in match) return match;
  throw new Error(`the gateway has no endpoint ${method} ${path}`);
}

async function listEndpoints(): Promise<EndpointTable> {
  const log = { info() {}, warn() {}, error() {} };
  const { registry } = await assemble(undefined, log, () => {
    throw new Error('no gateway is running');
  });
  return new EndpointTable(registry.endpoints);
}

async function readBody({ body }: Reply): Promise<{ text: string; error: unknown }> {
  if (!(body instanceof Readable)) return { text: String(body ?? ''), error: undefined };
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body) chunks.push(Buffer.from(chunk as Buffer | string));
    return { text: Buffer.concat(chunks).toString(), error: undefined };
  } catch (error) {
    return { text: Buffer.concat(chunks).toString(), error };
  }
}

function createOutcome({ status }: Reply, text: string, error: unknown, exchange: Exchange): Outcome {
  const failure: GatewayError | undefined = exchange.failure;
  const answeredKind = failure === undefined ? 'answered' : 'refused';
  return {
    kind: status >= 500 || error !== undefined ? 'failed' : answeredKind,
    status,
    error: failure,
    bytesSent: Buffer.byteLength(text),
    duration: exchange.elapsed,
    firstByteAfter: text === '' ? undefined : exchange.elapsed,
  };
}
