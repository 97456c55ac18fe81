import type { Item, MediaSource, Message, Part } from './conversation.ts';
import type { Notes } from './notes.ts';

/** `data`: only images with inline data. */
export type AnswerImages = 'any' | 'data' | 'none';

export function describeImage(source: MediaSource): string {
  if (source.type === 'url') return `![image](${source.url})`;
  const size = Math.ceil((source.data.length * 3) / 4 / 1024);
  return `[image omitted: ${source.mediaType}, ${size} KB; answers from this API cannot contain images]`;
}

export function countImageCharacters(source: MediaSource): number {
  return source.type === 'url' ? source.url.length : source.data.length;
}

const mediaTypePrefixes: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

export function detectImageType(base64: string): string | undefined {
  return mediaTypePrefixes.find(([prefix]) => base64.startsWith(prefix))?.[1];
}

const movedImagesCaption = 'Images from your earlier answers:';

/**
 * Moves generated images to the next user message, for formats without images in assistant messages, because the user may ask to change
 * them. They are dropped if no user message follows or the model does not accept images.
 */
export function moveGeneratedImages(items: readonly Item[], acceptsImages: boolean, notes: Notes): readonly Item[] {
  if (!items.some(hasGeneratedImages)) return items;
  const resultItems: Item[] = [];
  let pending: Part[] = [];
  for (const item of items) {
    if (item.type !== 'message') resultItems.push(item);
    else if (item.role === 'assistant') {
      pending.push(...item.parts.filter(isImage));
      const parts = item.parts.filter((part) => !isImage(part));
      if (parts.length > 0) resultItems.push({ ...item, parts });
    } else if (item.role === 'user' && acceptsImages && pending.length > 0) {
      notes.approximate('images in assistant messages as user message');
      resultItems.push({ ...item, parts: [{ type: 'text', text: movedImagesCaption }, ...pending, ...item.parts] });
      pending = [];
    } else resultItems.push(item);
  }
  if (pending.length > 0) notes.drop('image in assistant message');
  return resultItems;
}

function hasGeneratedImages(item: Item): item is Message {
  return item.type === 'message' && item.role === 'assistant' && item.parts.some(isImage);
}

function isImage({ type }: Part): boolean {
  return type === 'image';
}
