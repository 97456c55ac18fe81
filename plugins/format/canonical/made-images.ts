import type { Item, MediaSource, Message, Part } from './conversation.ts';
import type { Notes } from './notes.ts';

/** The images that answers of a format have: any, those whose data is in the answer, or none. */
export type ShownImages = 'any' | 'data' | 'none';

/** The words that stand in an answer for an image that it cannot hold. An address is shown as Markdown shows images. */
export function describeImage(source: MediaSource): string {
  if (source.type === 'url') return `![image](${source.url})`;
  const size = Math.ceil((source.data.length * 3) / 4 / 1024);
  return `[image omitted: ${source.mediaType}, ${size} KB; answers of this API have no images]`;
}

/** Characters that an image adds to an answer. */
export function sizeOf(source: MediaSource): number {
  return source.type === 'url' ? source.url.length : source.data.length;
}

const beginnings: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** The media type by the first base64 characters, where it is one of the common ones. */
export function mediaTypeIn(data: string): string | undefined {
  return beginnings.find(([beginning]) => data.startsWith(beginning))?.[1];
}

/** Precedes images that the user's message shows in place of the answer with them. */
const caption = 'Images of your earlier answers:';

/**
 * Moves the images that models have made into the next message of the user, for formats whose assistant has none: the user
 * may ask to change them. Without a message to hold them, or for a model that takes no images, they are dropped.
 */
export function showMadeImages(items: readonly Item[], takesImages: boolean, notes: Notes): readonly Item[] {
  if (!items.some(hasMadeImages)) return items;
  const shown: Item[] = [];
  let waiting: Part[] = [];
  for (const item of items) {
    if (item.type !== 'message') shown.push(item);
    else if (item.role === 'assistant') {
      waiting.push(...item.parts.filter(isImage));
      const parts = item.parts.filter((part) => !isImage(part));
      if (parts.length > 0) shown.push({ ...item, parts });
    } else if (item.role === 'user' && takesImages && waiting.length > 0) {
      notes.approximate('images in assistant messages as user message');
      shown.push({ ...item, parts: [{ type: 'text', text: caption }, ...waiting, ...item.parts] });
      waiting = [];
    } else shown.push(item);
  }
  if (waiting.length > 0) notes.drop('image in assistant message');
  return shown;
}

function hasMadeImages(item: Item): item is Message {
  return item.type === 'message' && item.role === 'assistant' && item.parts.some(isImage);
}

function isImage({ type }: Part): boolean {
  return type === 'image';
}
