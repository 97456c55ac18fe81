import type { Codec } from '../canonical/codec.ts';
import { GeminiDecoder } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { GeminiEncoder } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';

/** The generateContent format, read and written. */
export const geminiCodec: Codec = {
  decodeRequest,
  encodeRequest,
  createDecoder: () => new GeminiDecoder(),
  createEncoder: (context) => new GeminiEncoder(context),
};
