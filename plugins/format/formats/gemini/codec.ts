import type { Codec } from '../../canonical/codec.ts';
import type { StateKind } from '../../canonical/conversation.ts';
import type { NameRules } from '../../canonical/tool-names.ts';
import { GeminiDecoder } from './reply/decode-reply.ts';
import { GeminiEncoder } from './reply/encode-reply.ts';
import { decodeRequest } from './request/decode-request.ts';
import { encodeRequest } from './request/encode-request.ts';

/** Decodes and encodes requests and replies of `generateContent`. */
export const geminiCodec: Codec = {
  decodeRequest,
  encodeRequest,
  createDecoder: () => new GeminiDecoder(),
  createEncoder: (context) => new GeminiEncoder(context),
};

/** Kinds of opaque reasoning state that endpoints of the format create and accept. */
export const stateKinds: readonly StateKind[] = ['thought'];

/** The function names that the format allows. Newer models accept 128 characters, older models only 64. */
export const toolNames: NameRules = { maxLength: 64, forbidden: /[^A-Za-z0-9_.:-]/g, firstCharacter: /^[A-Za-z_]/ };
