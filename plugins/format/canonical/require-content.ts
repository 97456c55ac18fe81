import { GatewayError } from '#core/errors/table.ts';
import type { Notes } from './notes.ts';

/**
 * Refuses a request whose last message was nothing but parts of unknown types: without them it asks for nothing.
 *
 * @param path of that message, which has left nothing in the conversation
 * @throws GatewayError `unsupported_content` naming the part
 */
export function refuseUnread(path: string, { lastPart }: Notes): void {
  if (lastPart === undefined || !lastPart.path.startsWith(path)) return;
  const message = `This model does not support ${lastPart.what.slice(0, 80)}, and the message has nothing else.`;
  throw new GatewayError('unsupported_content', message, { param: lastPart.path });
}
