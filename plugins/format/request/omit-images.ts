import type { JsonObject } from '#core/json.ts';
import { isClientTextFormat } from '../descriptor.ts';
import { type ClientRequest, exactBody } from './client-request.ts';

/** Note on a request out of which images were left. */
export const omissionNote = 'approximated images in tool results as text';

/**
 * The request without the images in tool results; undefined when there are none. A conversation in which a tool has once
 * shown an image would be refused from there on, and the user could not take the image out again. Images of the user
 * stay: the user can send something else.
 */
export function omitResultImages(request: ClientRequest): ClientRequest | undefined {
  const { format, body } = request;
  if (!isClientTextFormat(format)) return undefined;
  const omit = (from: JsonObject): JsonObject => format.client.text.omitResultImages(from);
  const without = omit(body);
  if (without === body) return undefined;
  const text = JSON.stringify(omit(exactBody(request)));
  return { ...request, body: without, text, bytes: Buffer.from(text) };
}
