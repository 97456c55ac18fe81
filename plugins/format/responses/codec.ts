import type { Codec } from '../canonical/codec.ts';
import { ResponsesDecoder } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { ResponsesEncoder } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';

/** The Responses format, read and written. */
export const responsesCodec: Codec = {
  decodeRequest,
  encodeRequest,
  createDecoder: () => new ResponsesDecoder(),
  createEncoder: (context) => new ResponsesEncoder(context),
};
