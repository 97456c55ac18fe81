import type { Upstream } from '#core/config/catalog/catalog.ts';
import {
  adapter,
  type AttemptRecord,
  cachedCall,
  cacheStatus,
  type Delivery,
  delivery,
  principal,
} from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { stageTimes } from '#core/gateway/pipeline/stage-times.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { createAttemptSpanId, createSpanId, type Trace, deriveTrace } from '#core/gateway/trace-context.ts';
import { toAttributes, toNanoseconds, type OtlpSpan, spanKind, statusError } from './otlp.ts';

/** Standard values of `gen_ai.provider.name` by the start of the vendor's name. Other vendors keep their names. */
const providersByVendor: readonly (readonly [vendor: string, provider: string])[] = [
  ['gemini', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['bedrock', 'aws.bedrock'],
  ['azure-openai', 'azure.ai.openai'],
  ['azure', 'azure.ai.inference'],
  ['xai', 'x_ai'],
  ['mistral', 'mistral_ai'],
  ['moonshot', 'moonshot_ai'],
  ['anthropic', 'anthropic'],
  ['deepseek', 'deepseek'],
];

/** `gen_ai.operation.name` by wire format. A format without a standard value uses its own name. */
const operationsByFormat: Readonly<Record<string, string>> = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  ollama: 'chat',
  gemini: 'generate_content',
  completions: 'text_completion',
  embeddings: 'embeddings',
  'gemini-embeddings': 'embeddings',
};

/**
 * The spans of a request, its attempts and, if configured, its stages follow the HTTP semantic conventions 1.41 and the generative AI
 * conventions of November 2026, which are still in development.
 */
export function createSpans(exchange: Exchange, outcome: Outcome, sample: number): OtlpSpan[] {
  const trace = deriveTrace(exchange, sample);
  if (!trace.isSampled) return [];
  const deliveryFact = exchange.find(delivery);
  return [
    createRequestSpan(exchange, outcome, trace),
    ...(exchange.find(stageTimes) ?? []).map(({ stage, startedAt, duration }) => ({
      ...describeChildSpan(exchange, trace, startedAt, duration),
      spanId: createSpanId(`${exchange.id} stage ${stage}`),
      name: stage,
      kind: spanKind.internal,
      attributes: [],
    })),
    ...(deliveryFact?.attempts ?? []).map((attempt) =>
      createAttemptSpan(exchange, trace, attempt, deliveryFact as Delivery),
    ),
  ];
}

function createRequestSpan(exchange: Exchange, { kind, status, error, duration }: Outcome, trace: Trace): OtlpSpan {
  const { id, method, endpoint, receivedAt } = exchange;
  // An unknown path is client input and may contain a key.
  const route = endpoint.name === 'unknown' ? undefined : endpoint.path;
  const modelCall = exchange.find(adapter) ?? exchange.find(cachedCall);
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    ...(trace.parentSpanId !== undefined && { parentSpanId: trace.parentSpanId }),
    name: route === undefined ? method : `${method} ${route}`,
    kind: spanKind.server,
    startTimeUnixNano: toNanoseconds(receivedAt),
    endTimeUnixNano: toNanoseconds(receivedAt + duration),
    attributes: toAttributes({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'error.type': error?.code ?? (kind === 'aborted' ? 'client_gone' : undefined),
      'daypass.request.id': id,
      'daypass.request.outcome': kind,
      'daypass.request.endpoint': endpoint.name,
      'daypass.request.model': modelCall?.model.publicName,
      'daypass.request.cache': exchange.find(cacheStatus),
      'daypass.account.id': exchange.find(principal)?.accountId,
    }),
    ...(kind === 'failed' && { status: { code: statusError } }),
  };
}

function createAttemptSpan(exchange: Exchange, trace: Trace, attempt: AttemptRecord, deliveryFact: Delivery): OtlpSpan {
  const { route, startedAt, duration, status, outcome, fault, format = '' } = attempt;
  const modelCall = exchange.find(adapter);
  const currentRoute = modelCall?.model.routes.find(({ id }) => id === route);
  const model = currentRoute?.model ?? route.slice(route.indexOf('/') + 1);
  const operation = operationsByFormat[format] ?? format;
  const isServing = outcome === 'served' && route === deliveryFact.servedBy;
  const { usage, firstContentAfter } = isServing ? deliveryFact : {};
  return {
    ...describeChildSpan(exchange, trace, startedAt, duration),
    spanId: createAttemptSpanId(exchange, route, startedAt),
    name: `${operation} ${model}`,
    kind: spanKind.client,
    attributes: toAttributes({
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': findProvider(currentRoute?.upstream, route),
      'gen_ai.request.model': model,
      'gen_ai.request.stream': modelCall?.isStream,
      'gen_ai.response.time_to_first_chunk':
        modelCall?.isStream === true && firstContentAfter !== undefined
          ? (firstContentAfter - startedAt) / 1000
          : undefined,
      'gen_ai.usage.input_tokens': usage?.input,
      'gen_ai.usage.output_tokens': usage?.output,
      'gen_ai.usage.cache_read.input_tokens': usage?.cacheRead,
      'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWrite,
      'gen_ai.usage.reasoning.output_tokens': usage?.reasoning,
      'http.response.status_code': status,
      'error.type': outcome === 'served' ? undefined : (fault ?? outcome),
      'daypass.route': route,
      'daypass.attempt.outcome': outcome,
      ...describeServer(currentRoute?.upstream),
    }),
    ...(outcome === 'failed' && { status: { code: statusError } }),
  };
}

function describeChildSpan({ receivedAt }: Exchange, { traceId, spanId }: Trace, startedAt: number, duration: number) {
  return {
    traceId,
    parentSpanId: spanId,
    startTimeUnixNano: toNanoseconds(receivedAt + startedAt),
    endTimeUnixNano: toNanoseconds(receivedAt + startedAt + duration),
  };
}

function findProvider(upstream: Upstream | undefined, route: string): string {
  const vendor = upstream?.vendor ?? upstream?.name ?? route.slice(0, route.indexOf('/'));
  return providersByVendor.find(([prefix]) => vendor.startsWith(prefix))?.[1] ?? vendor;
}

function describeServer(upstream: Upstream | undefined): Record<string, unknown> {
  const url = upstream === undefined ? null : URL.parse(upstream.baseUrl);
  if (url === null) return {};
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { 'server.address': url.hostname, 'server.port': port };
}
