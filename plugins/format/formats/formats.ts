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
import { gemini } from './gemini/descriptor.ts';
import { images } from './images/descriptor.ts';
import { messages } from './messages/descriptor.ts';
import { ollama } from './ollama/descriptor.ts';
import { responses } from './responses/descriptor.ts';

/**
 * Every format, those first that can express most: of the formats that an upstream speaks, the first one in this list is
 * used for a request that must be translated.
 */
export const formats: readonly FormatDescriptor[] = [responses, messages, chat, gemini, ollama, images];

/** Those into which conversations can be translated. */
export const textFormats = formats.filter(isTextFormat);

/** Those in which clients hold conversations. */
export const clientTextFormats = textFormats.filter(isClientTextFormat);

/** A path on which a model is called, with its format. */
export interface ClientCall {
  readonly format: ClientFormat;
  readonly endpoint: ModelEndpoint;
}

const calls: ReadonlyMap<string, ClientCall> = new Map(
  formats
    .filter(isClientFormat)
    .flatMap((format) => format.client.endpoints.map((endpoint) => [endpoint.name, { format, endpoint }])),
);

/** What an endpoint is called for; undefined for one on which no model is called. */
export function clientCall({ name, format }: Endpoint): ClientCall | undefined {
  return format === undefined ? undefined : calls.get(name);
}
