import { parseJson } from '#core/platform/json.ts';

/** A message in Chat Completions format. */
export interface TryMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** The template passes these limits to the page's script. */
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

export function parseHistory(text: string | undefined): TryMessage[] {
  // The text comes from the browser and is not signed, so it is not trusted.
  const value = parseJson(text ?? '[]');
  return Array.isArray(value) ? value.filter(isMessage).slice(-tryBounds.messages) : [];
}

function isMessage(value: unknown): value is TryMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { role, content } = value as Partial<TryMessage>;
  return (role === 'user' || role === 'assistant') && typeof content === 'string';
}

/** Drops the oldest turns of a long conversation. The rest always starts with a user message. */
export function encodeHistory(messages: readonly TryMessage[]): string {
  const recentMessages = messages.slice(-tryBounds.messages).map(({ role, content }) => ({ role, content }));
  while (recentMessages.length > 0 && encodeURIComponent(JSON.stringify(recentMessages)).length > tryBounds.history)
    recentMessages.shift();
  while (recentMessages[0]?.role === 'assistant') recentMessages.shift();
  return JSON.stringify(recentMessages);
}
