import { GatewayError } from '#core/errors.ts';
import type { Codec } from '../canonical/codec.ts';

// Placeholder until the codec of this format is written; its author replaces the whole file.
const absent = (): never => {
  throw new GatewayError('not_supported', 'translation of gemini is not there yet');
};
export const geminiCodec: Codec = {
  decodeRequest: absent,
  encodeRequest: absent,
  createDecoder: absent,
  createEncoder: absent,
};
export const geminiNames = { maxLength: 64, forbidden: /[^A-Za-z0-9_.:-]/g, begin: /^[A-Za-z_]/ };
