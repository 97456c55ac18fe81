import type { JsonObject } from '#core/json.ts';
import { replacing, within } from '../request/replace-images.ts';

/** The body without the images in tool results. */
export function omitResultImages(body: JsonObject): JsonObject {
  return within(body, 'input', (item) => {
    const isResult = String(item['type']).endsWith('_call_output');
    return isResult ? within(item, 'output', replacing('input_image', 'input_text')) : item;
  });
}
