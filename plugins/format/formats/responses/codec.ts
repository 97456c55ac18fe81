import type { Codec } from '../../canonical/codec.ts';
import { commonNameRules } from '../../canonical/tool-names.ts';
import { ResponsesDecoder } from './reply/decode-reply.ts';
import { ResponsesEncoder } from './reply/encode-reply.ts';
import { decodeRequest } from './request/decode-request.ts';
import { encodeRequest } from './request/encode-request.ts';

export const responsesCodec: Codec = {
  toolNames: commonNameRules,
  stateKinds: ['encrypted'],
  minimalDialogue: { input: '.' },
  decodeRequest,
  encodeRequest,
  createDecoder: (profile) => new ResponsesDecoder(profile),
  createEncoder: (context) => new ResponsesEncoder(context),
};
