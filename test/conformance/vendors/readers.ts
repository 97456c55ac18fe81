import { chatReader } from '../../plugins/format/replays/read-chat.ts';
import { geminiReader } from '../../plugins/format/replays/read-gemini.ts';
import { messagesReader } from '../../plugins/format/replays/read-messages.ts';
import { responsesReader } from '../../plugins/format/replays/read-responses.ts';

/** How SDKs read answers, whatever members a vendor adds to them. */
export const readers = { chat: chatReader, responses: responsesReader, messages: messagesReader, gemini: geminiReader };
