import { scalarToNumber } from '../../wire/members.ts';
import { adaptEndUser, plainEndUser } from '../adaptation/adapt-parameters.ts';
import type { ClientFormat } from '../contract/descriptor.ts';
import { compileParameters } from '../contract/parameters.ts';
import { boolean, integer, text } from '../contract/rules.ts';
import { type MediaReplyShape, defineMediaEndpoint, MediaObserver } from '../media/observer.ts';

// Source: OpenAI API reference, "Create image".
const imagesParameters = compileParameters({ prompt: text, stream: boolean, n: integer(1, 10), size: text });

const imageReply: MediaReplyShape = {
  partEvents: new Set(['image_generation.partial_image', 'image_edit.partial_image']),
  endEvents: new Set(['image_generation.completed', 'image_edit.completed']),
  hasContent: ({ data }) => Array.isArray(data) && data.length > 0,
  countImages: ({ data }) => (Array.isArray(data) ? data.length : 0),
};

/** OpenAI's Images API. */
export const images: ClientFormat = {
  name: 'images',
  kind: 'image',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/images/generations',
  client: {
    reference: 'https://platform.openai.com/docs/api-reference/images/create',
    vendor: 'OpenAI Images',
    endpoints: [
      // Edits and variations take images as files. Some vendors also accept JSON with image URLs.
      defineMediaEndpoint('images', '/images/generations', ['prompt']),
      defineMediaEndpoint('image_edits', '/images/edits', ['prompt'], { isMultipart: true }),
      defineMediaEndpoint('image_variations', '/images/variations', [], { isMultipart: true }),
    ],
    parameters: imagesParameters,
    adapt: adaptEndUser(plainEndUser),
    createObserver: ({ n }) => new MediaObserver(imageReply, scalarToNumber(n) || 1),
  },
};
