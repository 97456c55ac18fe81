import type { Codec } from '../../canonical/codec.ts';
import type { StateKind } from '../../canonical/conversation.ts';
import { type NameRules, commonNameRules } from '../../canonical/tool-names.ts';
import { MessagesDecoder } from './reply/decode-reply.ts';
import { MessagesEncoder } from './reply/encode-reply.ts';
import { decodeRequest } from './request/decode-request.ts';
import { encodeRequest } from './request/encode-request.ts';

/** Reads and writes the Messages format. */
export const messagesCodec: Codec = {
  decodeRequest,
  encodeRequest,
  createDecoder: () => new MessagesDecoder(),
  createEncoder: (context) => new MessagesEncoder(context),
};

/** Kinds of opaque reasoning state that endpoints of the Messages format create. */
export const stateKinds: readonly StateKind[] = ['signature', 'redacted'];

/** The tool names that the format allows. */
export const toolNames: NameRules = { ...commonNameRules, maxLength: 128 };
