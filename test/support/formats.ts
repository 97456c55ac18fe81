import { chat } from '../../plugins/format/formats/chat/descriptor.ts';
import { gemini } from '../../plugins/format/formats/gemini/descriptor.ts';
import { images } from '../../plugins/format/formats/images/descriptor.ts';
import { messages } from '../../plugins/format/formats/messages/descriptor.ts';
import { ollama } from '../../plugins/format/formats/ollama/descriptor.ts';
import { responses } from '../../plugins/format/formats/responses/descriptor.ts';

/** Formats in which clients hold conversations, by name. */
export const conversational = { chat, responses, messages, gemini };

/** Formats in which upstreams hold conversations, by name. */
export const translatable = { ...conversational, ollama };

/** Formats that clients speak, by name. */
export const descriptors = { ...conversational, images };

export type Format = keyof typeof descriptors;
export type TextFormat = keyof typeof conversational;

export type UpstreamTextFormat = keyof typeof translatable;

export const textFormats = ['chat', 'responses', 'messages', 'gemini'] as const satisfies readonly TextFormat[];

export const upstreamTextFormats = [...textFormats, 'ollama'] as const satisfies readonly UpstreamTextFormat[];
