import type * as openai from 'openai/resources/images';
import type { Loose } from './loose.ts';

/** A whole reply. */
export type ImagesReply = Loose<openai.ImagesResponse>;
export type ImagesEvent = Loose<openai.ImageGenStreamEvent>;
