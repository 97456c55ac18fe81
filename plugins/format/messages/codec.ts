import type { Codec } from '../canonical/codec.ts';
import { MessagesDecoder } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { MessagesEncoder } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';

/** The Messages format, read and written. */
export const messagesCodec: Codec = {
  decodeRequest,
  encodeRequest,
  createDecoder: () => new MessagesDecoder(),
  createEncoder: (context) => new MessagesEncoder(context),
};
