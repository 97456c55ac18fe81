import type { JsonObject } from '#core/json.ts';
import { replacing, within } from '../request/replace-images.ts';

/** The body without the images in tool results. */
export function omitResultImages(body: JsonObject): JsonObject {
  return within(body, 'messages', (message) => within(message, 'content', fromBlock));
}

function fromBlock(block: JsonObject): JsonObject {
  return block['type'] === 'tool_result' ? within(block, 'content', replacing('image', 'text')) : block;
}
