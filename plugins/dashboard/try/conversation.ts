import { parseJson } from '#core/platform/json.ts';

/** A message of the conversation, in Chat Completions format. */
export interface TryMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Limits of the playground page; the template passes them to its script. */
export const tryBounds = {
  message: 8_000, // characters per message
  messages: 20, // a request contains only the latest ones
  answer: 100_000, // characters that are shown
  file: 5_000_000, // bytes per file
  textFile: 200_000, // bytes per text file
  allFiles: 10_000_000, // bytes of all files in a message
  files: 8, // per message
  recording: 25_000_000, // bytes
  lines: 100, // texts or documents, one per line
  history: 32 * 1024, // bytes of the URL-encoded conversation; half the maximum size of a form
} as const;

/** Parses the conversation in a form; empty if it is malformed. It comes from the browser, so it is neither trusted nor signed. */
export function parseHistory(text: string | undefined): TryMessage[] {
  const value = parseJson(text ?? '[]');
  return Array.isArray(value) ? value.filter(isMessage).slice(-tryBounds.messages) : [];
}

function isMessage(value: unknown): value is TryMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { role, content } = value as Partial<TryMessage>;
  return (role === 'user' || role === 'assistant') && typeof content === 'string';
}

/** Serializes the conversation for the next form, without the oldest turns if it is too long. It always starts with a user message. */
export function encodeHistory(messages: readonly TryMessage[]): string {
  const recentMessages = messages.slice(-tryBounds.messages).map(({ role, content }) => ({ role, content }));
  while (recentMessages.length > 0 && encodeURIComponent(JSON.stringify(recentMessages)).length > tryBounds.history)
    recentMessages.shift();
  while (recentMessages[0]?.role === 'assistant') recentMessages.shift();
  return JSON.stringify(recentMessages);
}
