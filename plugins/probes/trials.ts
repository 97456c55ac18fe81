import { Readable } from 'node:stream';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { Registry } from '#core/extension/registry.ts';
import { adapter, delivery, type FaultKind, trialModel, type Usage } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { buildPipeline } from '#core/gateway/pipeline/build.ts';
import { type BodySource, type Endpoint, Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import { discard, type Reply } from '#core/gateway/pipeline/reply.ts';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';

const timeoutMs = 120_000; // per request
const maxReplyBytes = 4_194_304;
const maxErrorLength = 300;

export type TrialSources = Pick<Registry, 'stages' | 'endpoints'>;

export interface TrialRequest {
  readonly endpoint: string; // name: `chat`
  readonly body: JsonObject;
}

export interface TrialReply {
  /** The non-streaming reply; undefined if the reply was streamed or is missing. */
  readonly body: JsonObject | undefined;
  readonly events: readonly JsonObject[];
  /** Why the reply is missing or incomplete; `request` if the gateway itself rejected the request. */
  readonly fault: FaultKind | 'request' | undefined;
  readonly error: string | undefined;
  /** Status with which the vendor rejected the request; undefined if it sent no response or the reply is complete. */
  readonly status: number | undefined;
  readonly usage: Usage | undefined;
  /** Request features that the route dropped. */
  readonly notes: readonly string[];
  readonly firstContentMs: number | undefined;
  readonly durationMs: number;
}

/**
 * Sends the gateway's own requests to single routes, through the same stages as customers' requests and with the same formats, quirks,
 * credentials and deadlines. They skip all other stages, so they affect no records, metrics or limits.
 */
export class Trials implements AsyncDisposable {
  readonly #host: Host;
  readonly #pipeline: Pipeline;
  readonly #endpoints: ReadonlyMap<string, Endpoint>;

  private constructor(host: Host, pipeline: Pipeline, endpoints: readonly Endpoint[]) {
    this.#host = host;
    this.#pipeline = pipeline;
    this.#endpoints = new Map(endpoints.map((endpoint) => [endpoint.name, endpoint]));
  }

  /** Returns undefined if the gateway has no stages that send requests. */
  static async open(host: Host, { stages, endpoints }: TrialSources): Promise<Trials | undefined> {
    const sendingStages = host.stages.flatMap(({ definition: { name }, options }) => {
      const definition = stages.get(name);
      const isSending = definition?.writes?.some((fact) => fact === adapter || fact === delivery);
      return definition !== undefined && isSending === true ? [{ definition, options }] : [];
    });
    if (sendingStages.length < 2) return undefined;
    return new Trials(host, await buildPipeline(sendingStages, host), endpoints);
  }

  /** Route failures are results, not rejections. */
  async send(model: Model, route: Route, { endpoint: name, body }: TrialRequest): Promise<TrialReply> {
    const endpoint = this.#endpoints.get(name);
    if (endpoint === undefined) throw new Error(`no endpoint ${name}`);
    const exchange = this.#createExchange(endpoint, body);
    const singleRouteModel = { ...model, routes: [route], hedgeAfter: undefined, resume: false };
    exchange.set(trialModel, singleRouteModel);
    const timeoutError = new GatewayError('upstream_timeout', `No complete answer within ${timeoutMs / 1000} seconds.`);
    const timer = setTimeout(() => exchange.abort(timeoutError), timeoutMs);
    this.#pipeline.start(exchange);
    try {
      const reply = await this.#pipeline.answer(exchange);
      return toTrialReply(exchange, reply, await collectText(reply));
    } finally {
      clearTimeout(timer);
      exchange.memory.release();
      await this.#pipeline.finish(exchange, {
        kind: 'answered',
        status: undefined,
        error: undefined,
        bytesSent: 0,
        duration: exchange.elapsed,
        firstByteAfter: undefined,
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pipeline.retire();
  }

  #createExchange(endpoint: Endpoint, body: JsonObject): Exchange {
    const { now, memory } = this.#host;
    const text = JSON.stringify(body);
    const source: BodySource = {
      bytes: async () => Buffer.from(text),
      text: async () => text,
      json: async () => structuredClone(body),
    };
    return new Exchange({
      id: createRequestId(now()),
      endpoint,
      params: {},
      dialect: endpoint.dialect ?? 'openai',
      method: endpoint.method,
      path: endpoint.path,
      query: new URLSearchParams(),
      headers: { 'content-type': 'application/json' },
      remoteAddress: undefined,
      receivedAt: now(),
      body: source,
      memory: memory.createShare('probes'),
    });
  }
}

async function collectText(reply: Reply): Promise<{ readonly text: string; readonly interruption: unknown }> {
  const { body } = reply;
  if (!(body instanceof Readable)) return { text: String(body ?? ''), interruption: undefined };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer | string>) {
      const bytes = Buffer.from(chunk as string);
      size += bytes.length;
      if (size > maxReplyBytes) throw new Error(`The answer has more than ${maxReplyBytes} bytes.`);
      chunks.push(bytes);
    }
    return { text: Buffer.concat(chunks).toString(), interruption: undefined };
  } catch (error) {
    discard(reply);
    return { text: Buffer.concat(chunks).toString(), interruption: error };
  }
}

function toTrialReply(
  exchange: Exchange,
  { status, headers }: Reply,
  { text, interruption }: { readonly text: string; readonly interruption: unknown },
): TrialReply {
  const record = exchange.find(delivery);
  const lastAttempt = record?.attempts.at(-1);
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  const isFailed = status >= 300 || interruption !== undefined || record?.servedBy === undefined;
  const failure = exchange.failure ?? (interruption instanceof Error ? interruption : undefined);
  return {
    body: isStream || isFailed ? undefined : parseObject(text),
    events: isStream ? parseEvents(text) : [],
    fault: isFailed ? (lastAttempt?.fault ?? (record === undefined ? 'request' : 'route')) : undefined,
    error: isFailed
      ? (lastAttempt?.error ?? failure?.message ?? `status ${status}`).slice(0, maxErrorLength)
      : undefined,
    status: isFailed ? lastAttempt?.status : undefined,
    usage: record?.usage,
    notes: record?.notes ?? [],
    firstContentMs: record?.firstContentAfter,
    durationMs: exchange.elapsed,
  };
}

function parseEvents(text: string): JsonObject[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => parseObject(line.slice('data: '.length)))
    .filter(isJsonObject);
}
