import type { ClientFormat } from '../descriptor.ts';
import { ImagesObserver } from './observer.ts';
import { imagesParameters } from './parameters.ts';

/** The Images API of OpenAI. */
export const images: ClientFormat = {
  name: 'images',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/images/generations',
  client: {
    endpoints: [
      {
        name: 'images',
        method: 'POST',
        path: '/v1/images/generations',
        isMetered: true,
        isAliased: true,
        purpose: 'answer',
        required: ['prompt'],
      },
    ],
    parameters: imagesParameters,
    observe: (id, { n }) => new ImagesObserver(id, typeof n === 'number' ? n : 1),
  },
};
