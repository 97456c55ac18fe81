import type { JsonObject } from '#core/json.ts';
import { replacing, within } from '../request/replace-images.ts';

/** The body without the images in tool results. */
export function omitResultImages(body: JsonObject): JsonObject {
  return within(body, 'messages', (message) =>
    message['role'] === 'tool' ? within(message, 'content', replacing('image_url', 'text')) : message,
  );
}
