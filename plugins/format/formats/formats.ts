import type { ModelKind } from '#core/config/catalog/kinds.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { Dialect } from '#core/platform/errors/dialects.ts';
import { chat } from './chat/descriptor.ts';
import { completions } from './completions/descriptor.ts';
import {
  type ClientFormat,
  type FormatDescriptor,
  isClientFormat,
  isClientTextFormat,
  isTextFormat,
  type ModelEndpoint,
} from './contract/descriptor.ts';
import { embeddings, geminiEmbeddings } from './embeddings/descriptor.ts';
import { gemini } from './gemini/descriptor.ts';
import { images } from './images/descriptor.ts';
import { moderations, rerank } from './lists/descriptors.ts';
import { speech } from './media/speech.ts';
import { transcriptions } from './media/transcriptions.ts';
import { messages } from './messages/descriptor.ts';
import { ollama } from './ollama/descriptor.ts';
import { responses } from './responses/descriptor.ts';

/** All formats, the most expressive first: a translation uses the first one that the upstream supports. */
export const formats: readonly FormatDescriptor[] = [
  responses,
  messages,
  chat,
  gemini,
  ollama,
  completions,
  embeddings,
  geminiEmbeddings,
  images,
  speech,
  transcriptions,
  moderations,
  rerank,
];

/** Formats that conversations can be translated into. */
export const textFormats = formats.filter(isTextFormat);

export const embeddingFormats = formats.filter(({ kind }) => kind === 'embedding');

export const clientTextFormats = textFormats.filter(isClientTextFormat);

export interface ClientCall {
  readonly format: ClientFormat;
  readonly endpoint: ModelEndpoint;
}

/**
 * Lists the paths on which clients of a dialect call models of a kind; OpenAI's paths if the dialect has none.
 *
 * @param formatNames formats of the route, if it does not serve conversations
 */
export function listEndpoints(kind: ModelKind, dialect: Dialect, formatNames?: readonly string[]): readonly string[] {
  const isServed = ({ name }: ClientFormat): boolean => formatNames?.includes(name) ?? name !== completions.name;
  const servingFormats = formats.filter(isClientFormat).filter((format) => format.kind === kind && isServed(format));
  const dialectFormats = servingFormats.filter((format) => format.dialect === dialect);
  const listedFormats = dialectFormats.length > 0 ? dialectFormats : servingFormats;
  return [...new Set(listedFormats.flatMap(({ client }) => client.endpoints.flatMap(listPath)))];
}

function listPath({ path, purpose, method }: ModelEndpoint): string[] {
  // Paths under `/v1/models` are omitted, because Google's clients use another API version.
  const isListed = purpose === 'answer' && !path.startsWith('/v1/models');
  return isListed ? [`${method} ${path.replace('{id*}', '{model}')}`] : [];
}

const callsByEndpoint: ReadonlyMap<string, ClientCall> = new Map(
  formats
    .filter(isClientFormat)
    .flatMap((format) => format.client.endpoints.map((endpoint) => [endpoint.name, { format, endpoint }])),
);

/** Returns undefined for endpoints that do not call a model. */
export function findClientCall({ name, format }: Endpoint): ClientCall | undefined {
  return format === undefined ? undefined : callsByEndpoint.get(name);
}
