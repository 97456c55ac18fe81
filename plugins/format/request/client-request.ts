import { GatewayError } from '#core/errors/table.ts';
import type { Format } from '#core/catalog/formats.ts';
import type { JsonObject } from '#core/json.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { mayHoldLongNumbers } from './exact-json.ts';
import { parseBody } from './members.ts';

/** What is wanted: an answer, or the number of tokens that the request would take. */
export type Purpose = 'answer' | 'count';

/** The client's request, read once; every attempt starts from it. */
export interface ClientRequest {
  readonly format: Format;
  readonly purpose: Purpose;
  /** The name that the client used. */
  readonly model: string;
  readonly isStream: boolean;
  readonly bytes: Buffer;
  readonly text: string;
  readonly body: JsonObject;
}

/** Endpoints that count tokens, of every format. */
const counting = new Set(['count_tokens', 'gemini_count_tokens']);

/**
 * @throws GatewayError `invalid_request` when no model is named, or what reading the body throws
 */
export async function readClientRequest(exchange: Exchange, format: Format): Promise<ClientRequest> {
  const { endpoint, params, body: source } = exchange;
  const body = await source.json();
  // Gemini names model and streaming in the path.
  const model = format === 'gemini' ? params['id'] : body['model'];
  if (typeof model !== 'string' || model === '') {
    const fault = model === undefined ? 'missing' : 'wrong';
    const message = `model is ${fault}; it has to be the name of a model`;
    throw new GatewayError('invalid_request', message, { param: 'model' });
  }
  return {
    format,
    purpose: counting.has(endpoint.name) ? 'count' : 'answer',
    model,
    isStream: format === 'gemini' ? endpoint.name === 'stream_generate_content' : body['stream'] === true,
    bytes: await source.bytes(),
    text: await source.text(),
    body,
  };
}

/** The body, with the inputs of calls exactly as they were written: it was parsed before anybody knew what for. */
export function exactBody({ body, text }: Pick<ClientRequest, 'body' | 'text'>): JsonObject {
  return mayHoldLongNumbers(text) ? (parseBody(text) ?? body) : body;
}
