import type { ErrorMeaning } from '#core/platform/errors/table.ts';

interface ServerWords {
  readonly server: string;
  readonly version: string; // first with this wording
  readonly words: RegExp;
  /** Preset to which vague wording is limited. */
  readonly vendor?: string;
  /** `unsupported`: the request needs a feature that this server lacks; `setup`: the server runs without a flag. */
  readonly meaning: Extract<ErrorMeaning, 'unsupported' | 'setup'>;
}

/**
 * Refusals of self-hosted servers whose status does not tell who is at fault: most come with 500 or 501. All but those of
 * older versions were seen (docs/upstreams.md).
 */
const rows: readonly ServerWords[] = [
  {
    server: 'llama.cpp',
    version: 'b11549',
    words: /^(image|audio|video) input is not supported\b/,
    meaning: 'unsupported',
  },
  {
    server: 'llama.cpp',
    version: 'b11549',
    words: /^Failed to parse (tools|messages|tool_choice|input)\b/,
    meaning: 'unsupported',
  },
  {
    server: 'llama.cpp',
    version: 'b11549',
    words: /^This server does not support \w+\. Start it with/,
    meaning: 'setup',
  },
  {
    server: 'llama.cpp',
    version: 'b11549',
    words: /^Pooling type '\w+' is not OAI compatible/,
    meaning: 'setup',
  },
  { server: 'llama.cpp', version: 'b4000', words: /^tool(s|_choice) param requires --jinja flag/, meaning: 'setup' },
  { server: 'vLLM', version: '0.32.0', words: /\bis not a multimodal model\b/, meaning: 'unsupported' },
  {
    server: 'vLLM',
    version: '0.32.0',
    words: /\btool(_| )choice\b.{0,200}\brequires? .{0,40}--(enable-auto-tool-choice|tool-call-parser)\b/s,
    meaning: 'setup',
  },
  {
    server: 'Ollama (source)',
    version: '0.17.4',
    words: /\bdoes not support (thinking|tools|vision|chat|embeddings)\b/,
    meaning: 'unsupported',
  },
  // The answer to a wrong type, to a missing or empty list of messages, and to calls whose arguments are not JSON.
  {
    server: 'transformers serve',
    version: '5.24.0',
    words: /^Internal Server Error$/,
    vendor: 'transformers-serve',
    meaning: 'unsupported',
  },
];

/**
 * Meaning of a server's message; undefined if it is not in the table.
 *
 * @param preset name of the upstream's preset
 */
export function meaningOfServerWords(message: string | undefined, preset?: string): ServerWords['meaning'] | undefined {
  if (message === undefined) return undefined;
  return rows.find(({ words, vendor }) => (vendor === undefined || vendor === preset) && words.test(message))?.meaning;
}
