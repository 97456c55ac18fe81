import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { ModelKind } from '#core/config/catalog/kinds.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { Dialect } from '#core/platform/errors/dialects.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import {
  type ClientFormat,
  type FormatDescriptor,
  isTextFormat,
  type TextFormat,
} from '../formats/contract/descriptor.ts';
import { embeddingFormats, listEndpoints, textFormats } from '../formats/formats.ts';
import { responses } from '../formats/responses/descriptor.ts';
import type { ClientRequest } from './client-request.ts';

/** @throws GatewayError `wrong_endpoint` if the route has no format for the request, `not_supported` if it does not count tokens */
export function selectUpstreamFormat(route: Route, { format, purpose, outline }: ClientRequest): FormatDescriptor {
  const { formats } = route.upstream;
  if (!isTextFormat(format)) {
    if (formats.includes(format.name)) return format;
    const embeddingFormat =
      format.kind === 'embedding' ? embeddingFormats.find(({ name }) => formats.includes(name)) : undefined;
    if (embeddingFormat === undefined) throw createFormatError(route, format);
    return embeddingFormat;
  }
  if (purpose === 'count') {
    if (formats.includes(format.name) && profileIn(format.name, route.profile).quirks.count_tokens) return format;
    throw new GatewayError('not_supported', 'The route does not count tokens.');
  }
  if (needsResponses(route, format, outline['tools'])) return responses;
  const preferred = selectPreferredFormat(format, formats);
  if (preferred === undefined) throw createFormatError(route, format);
  return preferred;
}

/** Selects the client's own format if the upstream supports it, otherwise the most expressive one that it supports. */
export function selectPreferredFormat(client: TextFormat, available: readonly string[]): TextFormat | undefined {
  return available.includes(client.name) ? client : textFormats.find(({ name }) => available.includes(name));
}

function needsResponses({ upstream, profile }: Route, format: TextFormat, tools: unknown): boolean {
  if (format === responses || !profile.quirks.responses_for_tools) return false;
  // Models that reason by default may refuse tools in Chat.
  return upstream.formats.includes(responses.name) && Array.isArray(tools) && tools.length > 0;
}

function createFormatError({ upstream }: Route, { name, kind, dialect }: ClientFormat): GatewayError {
  const { formats } = upstream;
  const servesText = textFormats.some((format) => formats.includes(format.name));
  const endpoints = describeEndpoints(kind, dialect, servesText ? undefined : formats);
  const message = `This model is not available in the ${name} format, only in ${formats.join(', ')}. Use ${endpoints}.`;
  return new GatewayError('wrong_endpoint', message, { param: 'model' });
}

/** @throws GatewayError `wrong_endpoint` if no route of the model supports the format */
export function requireFormat({ routes }: Model, format: ClientFormat): void {
  const [first] = routes;
  if (first === undefined || routes.some(({ upstream }) => upstream.formats.includes(format.name))) return;
  throw createFormatError(first, format);
}

const kindPurposes: Readonly<Record<ModelKind, string>> = {
  chat: 'conversations',
  embedding: 'embeddings',
  image: 'images',
  speech: 'speech',
  transcription: 'transcriptions',
  rerank: 'reranking',
  moderation: 'moderation',
};

/** @throws GatewayError `wrong_endpoint` if the endpoint does not serve models of this kind; the message lists those that do */
export function requireKind(model: Model, requested: string, { kind, dialect }: ClientFormat): void {
  if (model.kind === kind) return;
  const message = `Model "${requested.slice(0, 200)}" is for ${kindPurposes[model.kind]}. Use ${describeEndpoints(model.kind, dialect)}.`;
  throw new GatewayError('wrong_endpoint', message, { param: 'model' });
}

function describeEndpoints(kind: ModelKind, dialect: Dialect, formats?: readonly string[]): string {
  const paths = listEndpoints(kind, dialect, formats);
  return [paths.slice(0, -1).join(', '), ...paths.slice(-1)].filter((part) => part !== '').join(' or ');
}
