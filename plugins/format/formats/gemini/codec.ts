import type { Codec } from '../../canonical/codec.ts';
import { GeminiDecoder } from './reply/decode-reply.ts';
import { GeminiEncoder } from './reply/encode-reply.ts';
import { decodeRequest } from './request/decode-request.ts';
import { encodeRequest } from './request/encode-request.ts';

export const geminiCodec: Codec = {
  // Newer models accept 128 characters, older ones only 64.
  toolNames: { maxLength: 64, forbidden: /[^A-Za-z0-9_.:-]/g, firstCharacter: /^[A-Za-z_]/ },
  stateKinds: ['thought'],
  minimalDialogue: { contents: [{ role: 'user', parts: [{ text: '.' }] }] },
  decodeRequest,
  encodeRequest,
  createDecoder: () => new GeminiDecoder(),
  createEncoder: (context) => new GeminiEncoder(context),
};
