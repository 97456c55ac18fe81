/**
 * A stage that changes the words of an answer, in every client format, streamed or whole:
 *
 *     plugins: [./docs/examples/redact.ts]
 *     pipeline:
 *       - auth
 *       - redact: { words: [Jakarta] }
 *       - plan
 *       …
 */
import { defineStage, mapText } from 'daypass';

export const redact = defineStage({
  name: 'redact',
  description: 'Replaces words in answers.',
  options: {
    type: 'object',
    properties: {
      words: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, description: 'Words to replace.' },
      with: { type: 'string', default: '[redacted]', description: 'Text that takes their place.' },
    },
    required: ['words'],
    additionalProperties: false,
  },
  create({ words, with: replacement }) {
    const pattern = new RegExp(words.map((word) => RegExp.escape(word)).join('|'), 'giu');
    return {
      // `mapText` passes whole words to the function, however the stream splits them. For matches over several words, pass
      // an object with `create` that holds text back itself.
      leave: (exchange, reply) => mapText(exchange, reply, (text) => text.replaceAll(pattern, () => replacement)),
    };
  },
});
