import type { ImageGenStreamEvent, ImagesResponse } from 'openai/resources/images';
import type { Loose } from './loose.ts';

/** A whole reply. */
export type ImagesReply = Loose<ImagesResponse>;
export type ImagesEvent = Loose<ImageGenStreamEvent>;
