import { listen } from '#core/config/sections/core-sections.ts';
import type { DocumentedHeader, EndpointDocumentation } from '#core/gateway/host/api-documentation.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import { type Dialect, dialectNames, dialects } from '#core/platform/errors/dialects.ts';
import type { Translate } from '#core/web/texts/texts.ts';
import { type DescribedError, describeErrors } from './errors.ts';

export interface DescribedEndpoint {
  readonly endpoint: Endpoint;
  readonly documentation: EndpointDocumentation;
  readonly path: string; // with `{id}` instead of `{id*}`
  readonly summary: string;
}

export interface DescribedHeader extends Omit<DocumentedHeader, 'text' | 'values'> {
  readonly text: string; // in the reader's language
}

interface BaseAddress {
  readonly dialect: Dialect;
  readonly clients: string;
  readonly url: string;
}

export interface DescribedApi {
  readonly addresses: readonly BaseAddress[];
  readonly endpoints: readonly DescribedEndpoint[];
  readonly headers: readonly DescribedHeader[];
  readonly limits: readonly string[];
  readonly errors: readonly DescribedError[];
}

/** Shared by the page, the OpenAPI document and llms.txt. */
export function describeApi(endpoints: readonly Endpoint[], host: Host, t: Translate): DescribedApi {
  const stages = host.documentation();
  const headers = [...stages.flatMap((stage) => stage.headers ?? []), ...gatewayHeaders];
  const limits = [...stages.flatMap((stage) => stage.limits ?? []), describeBodyLimit(host)];
  return {
    addresses: describeAddresses(host.service.baseUrl),
    endpoints: endpoints.flatMap((endpoint) => describeEndpoint(endpoint, t)),
    headers: headers.map(({ text, values, ...header }) => ({ ...header, text: t(text, values) })),
    limits: limits.map(({ text, values }) => t(text, values)),
    errors: describeErrors(t),
  };
}

export function filterHeaders({ headers }: DescribedApi, side: DescribedHeader['in']): DescribedHeader[] {
  return headers.filter((header) => header.in === side);
}

const gatewayHeaders: readonly DocumentedHeader[] = [
  {
    name: 'x-request-id',
    in: 'response',
    text: 'docs.header.request_id',
    example: 'req_019aa8f33b0c7c529d1f2f6f6f1f3c11',
  },
  { name: 'retry-after', in: 'response', text: 'docs.header.retry_after', example: '12' },
  { name: 'x-should-retry', in: 'response', text: 'docs.header.should_retry', example: 'false' },
];

function describeBodyLimit(host: Host) {
  const { max_body_bytes: bytes } = host.section(listen);
  return { text: 'docs.limit.body', values: { size: Math.floor(bytes / 1_048_576) } };
}

function describeAddresses(baseUrl: string): BaseAddress[] {
  return dialectNames.map((dialect) => {
    const { clients, basePath } = dialects[dialect];
    return { dialect, clients, url: baseUrl + basePath };
  });
}

function describeEndpoint(endpoint: Endpoint, t: Translate): DescribedEndpoint[] {
  const { documentation, path } = endpoint;
  if (documentation === undefined) return [];
  const summary = t(documentation.summary);
  return [{ endpoint, documentation, summary, path: path.replaceAll('*}', '}') }];
}
