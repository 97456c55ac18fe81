import { adaptUser, plainUser } from '../adaptation/adapt-parameters.ts';
import type { ClientFormat } from '../contract/descriptor.ts';
import { parameters } from '../contract/parameters.ts';
import { boolean, integer, text } from '../contract/rules.ts';
import { type MediaAnswer, mediaEndpoint, MediaObserver } from '../media/observer.ts';
import { scalarNumber } from '../../wire/members.ts';

/** Source: OpenAI API reference, "Create image". */
const imagesParameters = parameters({ prompt: text, stream: boolean, n: integer(1, 10), size: text });

const answer: MediaAnswer = {
  parts: new Set(['image_generation.partial_image', 'image_edit.partial_image']),
  ends: new Set(['image_generation.completed', 'image_edit.completed']),
  hasContent: ({ data }) => Array.isArray(data) && data.length > 0,
  countImages: ({ data }) => (Array.isArray(data) ? data.length : 0),
};

/** The Images API of OpenAI. */
export const images: ClientFormat = {
  name: 'images',
  kind: 'image',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/images/generations',
  client: {
    endpoints: [
      // Edits and variations take images as files. Some vendors also accept JSON with image URLs.
      mediaEndpoint('images', '/images/generations', ['prompt']),
      mediaEndpoint('image_edits', '/images/edits', ['prompt'], { isMultipart: true }),
      mediaEndpoint('image_variations', '/images/variations', [], { isMultipart: true }),
    ],
    parameters: imagesParameters,
    adapt: adaptUser(plainUser),
    observe: ({ n }) => new MediaObserver(answer, scalarNumber(n) || 1),
  },
};
