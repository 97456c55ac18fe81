import type { Model } from '#core/config/catalog/catalog.ts';
import type { ModelKind } from '#core/config/catalog/kinds.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { CodeCall } from './write-code.mjs';

const buildBodyByKind: Readonly<Record<ModelKind, (text: string) => JsonObject>> = {
  chat: (content) => ({ messages: [{ role: 'user', content }], stream: true }),
  embedding: (input) => ({ input: [input] }),
  image: (prompt) => ({ prompt }),
  speech: (input) => ({ input, voice: 'alloy' }),
  transcription: () => ({}),
  rerank: (query) => ({ query, documents: ['First document', 'Second document'] }),
  moderation: (input) => ({ input }),
};

/** @param apiUrl with `/v1` */
export function createExampleCall({ kind, publicName, routes }: Model, apiUrl: string, text: string): CodeCall {
  const usesCompletions = kind === 'chat' && routes.every(({ upstream }) => upstream.formats.join() === 'completions');
  if (usesCompletions)
    return { apiUrl, kind: 'completion', body: { model: publicName, prompt: text, max_tokens: 200 } };
  return { apiUrl, kind, body: { model: publicName, ...buildBodyByKind[kind](text) } };
}
