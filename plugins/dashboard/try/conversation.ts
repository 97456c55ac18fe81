import { parseJson } from '#core/platform/json.ts';

/** A message of the conversation, as Chat Completions has it. */
export interface TryMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Limits of the page's conversation; the script has the same numbers, through the template. */
export const tryBounds = {
  /** Characters of a message. */
  message: 8_000,
  /** Messages that are sent along, the latest ones. */
  messages: 20,
  /** Characters of an answer that are shown. */
  answer: 100_000,
  /** Bytes of a file of a message, of a text file, and of all files of a message; files of a message. */
  file: 5_000_000,
  textFile: 200_000,
  allFiles: 10_000_000,
  files: 8,
  /** Bytes of a recording. */
  recording: 25_000_000,
  /** Lines of texts or documents that are sent. */
  lines: 100,
  /** Bytes of the conversation in a form, as browsers encode it: half of what a form may have. */
  history: 32 * 1024,
} as const;

/**
 * The conversation in a form; empty if the value is malformed. It is the reader's own, so nothing in it is trusted,
 * and none of it needs proof.
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

/** The conversation for the next form, without its oldest turns where it would be too long. */
export function writeHistory(messages: readonly TryMessage[]): string {
  const kept = messages.slice(-tryBounds.messages).map(({ role, content }) => ({ role, content }));
  while (kept.length > 0 && encodeURIComponent(JSON.stringify(kept)).length > tryBounds.history) kept.shift();
  while (kept[0]?.role === 'assistant') kept.shift();
  return JSON.stringify(kept);
}
