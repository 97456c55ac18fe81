import { GatewayError } from '#core/errors/table.ts';
import type { JsonObject } from '#core/json.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { KeptReasoning } from '../kept-reasoning/kept-reasoning.ts';
import type { ClientFormat, ModelEndpoint, Purpose } from '../descriptor.ts';
import { mayHoldLongNumbers } from '#core/model-call/exact-json.ts';
import { parseBody } from './members.ts';
import { isAmbiguous, writeUnambiguous } from './unambiguous.ts';

/** The client's request, read once; every attempt starts from it. */
export interface ClientRequest {
  readonly format: ClientFormat;
  readonly purpose: Purpose;
  /** The model's name: as the client wrote it, and as answers carry it once the model has been found. */
  readonly model: string;
  readonly isStream: boolean;
  readonly bytes: Buffer;
  readonly text: string;
  readonly body: JsonObject;
  /** Id of the response that this request continues. The response's items are in the body then, and its id is not. */
  readonly previousId?: string | undefined;
  /** The reasoning of earlier turns, for clients that cannot return it. */
  readonly kept?: KeptReasoning | undefined;
}

/**
 * @throws GatewayError `invalid_request` when no model is named, or what reading the body throws
 */
export async function readClientRequest(
  { params, body: source }: Exchange,
  format: ClientFormat,
  { purpose, isStream }: ModelEndpoint,
): Promise<ClientRequest> {
  const body = await source.json();
  const model = format.client.isModelInPath === true ? params['id'] : body['model'];
  if (typeof model !== 'string' || model === '') {
    const message =
      model === undefined
        ? 'Missing required parameter: `model`. GET /v1/models lists all models.'
        : '`model` must be a string. GET /v1/models lists all models.';
    throw new GatewayError('invalid_request', message, { param: 'model' });
  }
  const read = { format, purpose, model, isStream: isStream ?? body['stream'] === true };
  const text = await source.text();
  if (!isAmbiguous(text, format)) return { ...read, bytes: await source.bytes(), text, body };
  return { ...read, ...bodyOf(writeUnambiguous(text, format)) };
}

function bodyOf(text: string): Pick<ClientRequest, 'bytes' | 'text' | 'body'> {
  return { bytes: Buffer.from(text), text, body: JSON.parse(text) as JsonObject };
}

/** The body, with the inputs of calls exactly as they were written. */
export function exactBody({ body, text }: Pick<ClientRequest, 'body' | 'text'>): JsonObject {
  return mayHoldLongNumbers(text) ? (parseBody(text) ?? body) : body;
}
