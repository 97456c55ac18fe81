import type { Codec } from '../../canonical/codec.ts';
import { commonNameRules } from '../../canonical/tool-names.ts';
import { ChatDecoder } from './reply/decode-reply.ts';
import { ChatEncoder } from './reply/encode-reply.ts';
import { decodeRequest } from './request/decode-request.ts';
import { encodeRequest } from './request/encode-request.ts';

export const chatCodec: Codec = {
  toolNames: commonNameRules,
  stateKinds: [],
  minimalDialogue: { messages: [{ role: 'user', content: '.' }] },
  decodeRequest,
  encodeRequest,
  createDecoder: (profile) => new ChatDecoder(profile),
  createEncoder: (context) => new ChatEncoder(context),
};
