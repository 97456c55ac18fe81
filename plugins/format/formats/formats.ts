import type { ModelKind } from '#core/config/catalog/kinds.ts';
import type { Dialect } from '#core/platform/errors/dialects.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import {
  type ClientFormat,
  type FormatDescriptor,
  isClientFormat,
  isClientTextFormat,
  isTextFormat,
  type ModelEndpoint,
} from './contract/descriptor.ts';
import { chat } from './chat/descriptor.ts';
import { completions } from './completions/descriptor.ts';
import { embeddings, geminiEmbeddings } from './embeddings/descriptor.ts';
import { gemini } from './gemini/descriptor.ts';
import { images } from './images/descriptor.ts';
import { moderations, rerank } from './lists/descriptors.ts';
import { speech } from './media/speech.ts';
import { transcriptions } from './media/transcriptions.ts';
import { messages } from './messages/descriptor.ts';
import { ollama } from './ollama/descriptor.ts';
import { responses } from './responses/descriptor.ts';

/**
 * Every format, those first that can express most: of the formats that an upstream speaks, the first one in this list is
 * used for a request that must be translated.
 */
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

/** Those into which conversations can be translated. */
export const textFormats = formats.filter(isTextFormat);

/** Those in which vectors of texts are requested. */
export const embeddingFormats = formats.filter(({ kind }) => kind === 'embedding');

/** Those in which clients hold conversations. */
export const clientTextFormats = textFormats.filter(isClientTextFormat);

/** A path on which a model is called, with its format. */
export interface ClientCall {
  readonly format: ClientFormat;
  readonly endpoint: ModelEndpoint;
}

/**
 * The paths on which models of a kind are called, for clients of a dialect; those of OpenAI's where it has none.
 *
 * @param spoken formats of a route that serves no conversations
 */
export function endpointsOf(kind: ModelKind, dialect: Dialect, spoken?: readonly string[]): readonly string[] {
  const isServed = ({ name }: ClientFormat): boolean => spoken?.includes(name) ?? name !== completions.name;
  const serving = formats.filter(isClientFormat).filter((format) => format.kind === kind && isServed(format));
  const own = serving.filter((format) => format.dialect === dialect);
  const paths = (own.length > 0 ? own : serving).flatMap(({ client }) => client.endpoints.flatMap(listedPath));
  return [...new Set(paths)];
}

/** Google's paths are listed under the version that its clients use. */
function listedPath({ path, purpose, method }: ModelEndpoint): string[] {
  const isListed = purpose === 'answer' && !path.startsWith('/v1/models');
  return isListed ? [`${method} ${path.replace('{id*}', '{model}')}`] : [];
}

const calls: ReadonlyMap<string, ClientCall> = new Map(
  formats
    .filter(isClientFormat)
    .flatMap((format) => format.client.endpoints.map((endpoint) => [endpoint.name, { format, endpoint }])),
);

/** Purpose of calls to an endpoint; undefined for one on which no model is called. */
export function clientCall({ name, format }: Endpoint): ClientCall | undefined {
  return format === undefined ? undefined : calls.get(name);
}
