/**
 * Wire formats: how a client, or an upstream, writes requests and replies.
 *
 * A client's format is known from the path before any stage runs, so even the first refusal has its shape.
 */
export const formats = ['chat', 'responses', 'messages', 'gemini', 'images'] as const;

/** A wire format. */
export type Format = (typeof formats)[number];

/** Formats in which conversations are held: each can be put into each other. */
export const textFormats = ['chat', 'responses', 'messages', 'gemini'] as const satisfies readonly Format[];

/** A format in which conversations are held. */
export type TextFormat = (typeof textFormats)[number];

/** Which vendor's error bodies and headers a client reads. Paths without a format (models, key) have only this. */
export type Dialect = 'openai' | 'anthropic' | 'google';

/** The vendor whose errors and headers the clients of a format read. */
export const dialectOf = {
  chat: 'openai',
  responses: 'openai',
  images: 'openai',
  messages: 'anthropic',
  gemini: 'google',
} as const satisfies Record<Format, Dialect>;
