import { boolean, integer, parameters, text } from '../request/parameters.ts';

/** Source: OpenAI API reference, "Create image". */
export const imagesParameters = parameters({ prompt: text, stream: boolean, n: integer(1, 10), size: text });
