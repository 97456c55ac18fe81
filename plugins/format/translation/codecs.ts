import type { TextFormat } from '#core/catalog/formats.ts';
import type { Codec } from '../canonical/codec.ts';
import type { StateKind } from '../canonical/conversation.ts';
import { type NameRules, plainNames } from '../canonical/tool-names.ts';
import { chatCodec } from '../chat/codec.ts';
import { geminiCodec, geminiNames } from '../gemini/codec.ts';
import { messagesCodec } from '../messages/codec.ts';
import { responsesCodec } from '../responses/codec.ts';

/** How each format is read and written where it has to be translated. */
export const codecs: Readonly<Record<TextFormat, Codec>> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  gemini: geminiCodec,
};

/** What each format allows tools to be called. */
export const nameRules: Readonly<Record<TextFormat, NameRules>> = {
  chat: plainNames,
  responses: plainNames,
  messages: { ...plainNames, maxLength: 128 },
  gemini: geminiNames,
};

/** Kinds of sealed reasoning that an endpoint of each format makes, and takes back. */
export const ownKinds: Readonly<Record<TextFormat, readonly StateKind[]>> = {
  chat: [],
  responses: ['encrypted'],
  messages: ['signature', 'redacted'],
  gemini: ['thought'],
};
