import type { Codec } from '../canonical/codec.ts';
import { ChatDecoder } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { ChatEncoder } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';

/** The Chat Completions format, read and written. */
export const chatCodec: Codec = {
  decodeRequest,
  encodeRequest,
  createDecoder: (profile) => new ChatDecoder(profile),
  createEncoder: (context) => new ChatEncoder(context),
};
