import { bounds } from '#core/bounds.ts';
import { GatewayError } from '#core/errors/table.ts';
import type { JsonObject } from '#core/json.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { ReplyContext } from '../canonical/codec.ts';
import type { KeptReasoning } from '../kept-reasoning/kept-reasoning.ts';
import type { ClientFormat, ModelEndpoint, Purpose } from '../descriptor.ts';
import { exactInputSteps, exactSteps, mayHoldLongNumbers, parseExact } from '#core/model-call/exact-json.ts';
import { inTurns, turnFor } from '#core/timing/turn.ts';
import type { Thread } from '../threads/thread.ts';
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
  /** A text with long numbers, and its body with the inputs of calls exactly as they were written. */
  readonly exact?: { readonly text: string; readonly body: JsonObject } | undefined;
  /** Id of the response that this request continues. The response's items are in the body then, and its id is not. */
  readonly previousId?: string | undefined;
  /** The reasoning of earlier turns, for clients that cannot return it. */
  readonly kept?: KeptReasoning | undefined;
  readonly thread?: Thread | undefined;
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
  await turnFor(text.length);
  const given = isAmbiguous(text, format)
    ? await unambiguous(text, format)
    : { bytes: await source.bytes(), text, body };
  await turnFor(given.text.length);
  return { ...read, ...given, exact: await exactOf(given.text) };
}

async function unambiguous(
  text: string,
  format: ClientFormat,
): Promise<Pick<ClientRequest, 'bytes' | 'text' | 'body'>> {
  const exact = await (text.length > bounds.stepwiseBody ? inTurns(exactSteps(text)) : parseExact(text));
  const written = writeUnambiguous(exact as JsonObject, format);
  await turnFor(written.length);
  return { bytes: Buffer.from(written), text: written, body: JSON.parse(written) as JsonObject };
}

/** Reads a long body here, in separate turns of the event loop, and not when it is first needed. */
async function exactOf(text: string): Promise<ClientRequest['exact']> {
  if (text.length <= bounds.stepwiseBody || !mayHoldLongNumbers(text)) return undefined;
  return { text, body: (await inTurns(exactInputSteps(text))) as JsonObject };
}

/** The body, with the inputs of calls exactly as they were written. */
export function exactBody({ body, text, exact }: Pick<ClientRequest, 'body' | 'text' | 'exact'>): JsonObject {
  if (exact?.text === text) return exact.body;
  return mayHoldLongNumbers(text) ? (parseBody(text) ?? body) : body;
}

/** What the reply to a client's request is written with. */
export function replyContext(exchange: Exchange, client: ClientRequest): ReplyContext {
  return {
    id: shortId(exchange.id),
    model: client.model,
    created: Math.floor(exchange.receivedAt / 1000),
    request: { ...client.body, previous_response_id: client.previousId },
  };
}

/** The exchange's id without its prefix: each format has its own. */
export function shortId(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}
