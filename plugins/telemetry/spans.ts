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
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { stageTimes } from '#core/gateway/pipeline/stage-times.ts';
import { attemptSpanId, createSpanId, type Trace, deriveTrace } from '#core/gateway/trace-context.ts';
import type { Upstream } from '#core/config/catalog/catalog.ts';
import { attributesOf, nanoseconds, type OtlpSpan, spanKind, statusError } from './otlp.ts';

/** Standard values of `gen_ai.provider.name` by prefix of the vendor's name. Other vendors keep their names. */
const providers: readonly (readonly [vendor: string, provider: string])[] = [
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

/** `gen_ai.operation.name` by wire format; formats without a standard value use their own name. */
const operations: Readonly<Record<string, string>> = {
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
 * Creates the spans of a finished request, of its attempts, and of its stages if configured. They follow the HTTP
 * semantic conventions 1.41 and the generative AI conventions of November 2026, which are still in development.
 *
 * @returns an empty list for a request that is not sampled
 */
export function spansOf(exchange: Exchange, outcome: Outcome, sample: number): OtlpSpan[] {
  const trace = deriveTrace(exchange, sample);
  if (!trace.isSampled) return [];
  const delivered = exchange.find(delivery);
  return [
    requestSpan(exchange, outcome, trace),
    ...(exchange.find(stageTimes) ?? []).map(({ stage, startedAt, duration }) => ({
      ...within(exchange, trace, startedAt, duration),
      spanId: createSpanId(`${exchange.id} stage ${stage}`),
      name: stage,
      kind: spanKind.internal,
      attributes: [],
    })),
    ...(delivered?.attempts ?? []).map((attempt) => attemptSpan(exchange, trace, attempt, delivered as Delivery)),
  ];
}

function requestSpan(exchange: Exchange, { kind, status, error, duration }: Outcome, trace: Trace): OtlpSpan {
  const { id, method, endpoint, receivedAt } = exchange;
  // An unknown path is client input and may contain a key.
  const route = endpoint.name === 'unknown' ? undefined : endpoint.path;
  const called = exchange.find(adapter) ?? exchange.find(cachedCall);
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    ...(trace.parentSpanId !== undefined && { parentSpanId: trace.parentSpanId }),
    name: route === undefined ? method : `${method} ${route}`,
    kind: spanKind.server,
    startTimeUnixNano: nanoseconds(receivedAt),
    endTimeUnixNano: nanoseconds(receivedAt + duration),
    attributes: attributesOf({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'error.type': error?.code ?? (kind === 'aborted' ? 'client_gone' : undefined),
      'daypass.request.id': id,
      'daypass.request.outcome': kind,
      'daypass.request.endpoint': endpoint.name,
      'daypass.request.model': called?.model.publicName,
      'daypass.request.cache': exchange.find(cacheStatus),
      'daypass.account.id': exchange.find(principal)?.accountId,
    }),
    ...(kind === 'failed' && { status: { code: statusError } }),
  };
}

function attemptSpan(exchange: Exchange, trace: Trace, attempt: AttemptRecord, delivered: Delivery): OtlpSpan {
  const { route, startedAt, duration, status, outcome, fault, format = '' } = attempt;
  const called = exchange.find(adapter);
  const known = called?.model.routes.find(({ id }) => id === route);
  const model = known?.model ?? route.slice(route.indexOf('/') + 1);
  const operation = operations[format] ?? format;
  const isServing = outcome === 'served' && route === delivered.servedBy;
  const { usage, firstContentAfter } = isServing ? delivered : {};
  return {
    ...within(exchange, trace, startedAt, duration),
    spanId: attemptSpanId(exchange, route, startedAt),
    name: `${operation} ${model}`,
    kind: spanKind.client,
    attributes: attributesOf({
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': providerOf(known?.upstream, route),
      'gen_ai.request.model': model,
      'gen_ai.request.stream': called?.isStream,
      'gen_ai.response.time_to_first_chunk':
        called?.isStream === true && firstContentAfter !== undefined
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
      ...addressOf(known?.upstream),
    }),
    ...(outcome === 'failed' && { status: { code: statusError } }),
  };
}

function within({ receivedAt }: Exchange, { traceId, spanId }: Trace, startedAt: number, duration: number) {
  return {
    traceId,
    parentSpanId: spanId,
    startTimeUnixNano: nanoseconds(receivedAt + startedAt),
    endTimeUnixNano: nanoseconds(receivedAt + startedAt + duration),
  };
}

function providerOf(upstream: Upstream | undefined, route: string): string {
  const vendor = upstream?.vendor ?? upstream?.name ?? route.slice(0, route.indexOf('/'));
  return providers.find(([start]) => vendor.startsWith(start))?.[1] ?? vendor;
}

function addressOf(upstream: Upstream | undefined): Record<string, unknown> {
  const url = upstream === undefined ? null : URL.parse(upstream.baseUrl);
  if (url === null) return {};
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { 'server.address': url.hostname, 'server.port': port };
}
