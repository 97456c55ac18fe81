import { parseJson } from '#core/platform/json.ts';

/** A message of the conversation, in the form of Chat Completions. */
export interface TryMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Limits of the page's conversation; the template passes them to the script. */
export const tryBounds = {
  /** Characters. */
  message: 8_000,
  /** Maximum sent messages; the latest are sent. */
  messages: 20,
  /** Maximum shown characters of an answer. */
  answer: 100_000,
  /** Files of a message: bytes of a file, of a text file and of all files, and number of files. */
  file: 5_000_000,
  textFile: 200_000,
  allFiles: 10_000_000,
  files: 8,
  /** Bytes of a recording. */
  recording: 25_000_000,
  /** Lines of texts or documents. */
  lines: 100,
  /** Bytes of the encoded conversation in a form: half of the form's limit. */
  history: 32 * 1024,
} as const;

/**
 * Parses the conversation in a form; empty if the value is malformed. It comes from the reader, so it is neither trusted nor
 * signed.
 */
export function readHistory(text: string | undefined): TryMessage[] {
  const value = parseJson(text ?? '[]');
  return Array.isArray(value) ? value.filter(isMessage).slice(-tryBounds.messages) : [];
}

function isMessage(value: unknown): value is TryMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { role, content } = value as Partial<TryMessage>;
  return (role === 'user' || role === 'assistant') && typeof content === 'string';
}

/** Encodes the conversation for the next form, without its oldest turns if it is too long. */
export function writeHistory(messages: readonly TryMessage[]): string {
  const recentMessages = messages.slice(-tryBounds.messages).map(({ role, content }) => ({ role, content }));
  while (recentMessages.length > 0 && encodeURIComponent(JSON.stringify(recentMessages)).length > tryBounds.history)
    recentMessages.shift();
  while (recentMessages[0]?.role === 'assistant') recentMessages.shift();
  return JSON.stringify(recentMessages);
}
