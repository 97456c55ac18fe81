import type { Codec } from '../../canonical/codec.ts';
import type { StateKind } from '../../canonical/conversation.ts';
import { ResponsesDecoder } from './reply/decode-reply.ts';
import { ResponsesEncoder } from './reply/encode-reply.ts';
import { decodeRequest } from './request/decode-request.ts';
import { encodeRequest } from './request/encode-request.ts';

/** Reads and writes the Responses format. */
export const responsesCodec: Codec = {
  decodeRequest,
  encodeRequest,
  createDecoder: () => new ResponsesDecoder(),
  createEncoder: (context) => new ResponsesEncoder(context),
};

/** Kinds of opaque reasoning state that endpoints of the Responses format create. */
export const stateKinds: readonly StateKind[] = ['encrypted'];
