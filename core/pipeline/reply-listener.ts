import { defineFact } from './fact.ts';

/**
 * Hears the body of the answer as the client gets it, chunk by chunk and without keep-alives. Set by a stage in `start`.
 * It must not throw, and copies what it keeps: a chunk may be a small part of a large piece of memory.
 */
export const replyListener = defineFact<(chunk: string | Buffer) => void>('reply_listener');
