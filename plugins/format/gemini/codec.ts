import type { Codec } from '../canonical/codec.ts';
import type { NameRules } from '../canonical/tool-names.ts';
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

/** What functions may be called. Newer models take 128 characters, older ones half of it. */
export const geminiNames: NameRules = { maxLength: 64, forbidden: /[^A-Za-z0-9_.:-]/g, begin: /^[A-Za-z_]/ };
