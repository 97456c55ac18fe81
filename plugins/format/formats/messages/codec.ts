import type { Codec } from '../../canonical/codec.ts';
import { commonNameRules } from '../../canonical/tool-names.ts';
import { MessagesDecoder } from './reply/decode-reply.ts';
import { MessagesEncoder } from './reply/encode-reply.ts';
import { decodeRequest } from './request/decode-request.ts';
import { encodeRequest } from './request/encode-request.ts';

export const messagesCodec: Codec = {
  toolNames: { ...commonNameRules, maxLength: 128 },
  stateKinds: ['signature', 'redacted'],
  minimalDialogue: { messages: [{ role: 'user', content: '.' }] },
  decodeRequest,
  encodeRequest,
  createDecoder: () => new MessagesDecoder(),
  createEncoder: (context) => new MessagesEncoder(context),
};
