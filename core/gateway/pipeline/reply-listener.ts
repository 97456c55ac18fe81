import { defineFact } from './fact.ts';

/**
 * Receives the body as the client gets it, chunk by chunk, without keep-alives. Set by a stage in `start`. It must not throw
 * and must copy what it keeps, because a chunk may be a slice of a large buffer.
 */
export const replyListener = defineFact<(chunk: string | Buffer) => void>('reply_listener');
