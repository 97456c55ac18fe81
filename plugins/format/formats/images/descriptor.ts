import { adaptUser, plainUser } from '../adaptation/adapt-parameters.ts';
import type { ClientFormat, ModelEndpoint } from '../contract/descriptor.ts';
import { boolean, integer, parameters, text } from '../contract/parameters.ts';
import { type MediaAnswer, MediaObserver } from '../media/observer.ts';

/** Source: OpenAI API reference, "Create image". */
const imagesParameters = parameters({ prompt: text, stream: boolean, n: integer(1, 10), size: text });

const answer: MediaAnswer = {
  parts: new Set(['image_generation.partial_image', 'image_edit.partial_image']),
  ends: new Set(['image_generation.completed', 'image_edit.completed']),
  hasContent: ({ data }) => Array.isArray(data) && data.length > 0,
};

/** Edits and variations take images as files; some vendors also take JSON with their URLs. */
function endpoint(name: string, path: string, required: readonly string[], isMultipart: boolean): ModelEndpoint {
  return {
    name,
    method: 'POST',
    path: `/v1${path}`,
    upstreamPath: path,
    isMetered: true,
    isAliased: true,
    purpose: 'answer',
    required,
    isMultipart,
  };
}

/** The Images API of OpenAI. */
export const images: ClientFormat = {
  name: 'images',
  kind: 'image',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/images/generations',
  client: {
    endpoints: [
      endpoint('images', '/images/generations', ['prompt'], false),
      endpoint('image_edits', '/images/edits', ['prompt'], true),
      endpoint('image_variations', '/images/variations', [], true),
    ],
    parameters: imagesParameters,
    adapt: adaptUser(plainUser),
    observe: (id, { n }) => new MediaObserver(id, answer, Number(n) || 1),
  },
};
