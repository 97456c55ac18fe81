import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { parseExact } from '../model-call/exact-json.ts';

/** Complete entries of an array, with the text before and after them. */
export interface ArrayPiece {
  readonly before: string;
  readonly entries: readonly JsonObject[];
  readonly after: string;
}

/** Reads a JSON array of objects that grows chunk by chunk: `[{…}`, `,{…}`, `]`. */
export class JsonArrayFramer {
  #pending = '';

  /** @throws GatewayError when an entry is larger than `bounds.event` */
  push(chunk: string): ArrayPiece {
    this.#pending += chunk;
    const [, before = '', middle = '', after = ''] = /^([[,\s]*)(.*?)([\]\s]*)$/s.exec(this.#pending) ?? [];
    const entries = middle === '' ? [] : parseEntries(middle);
    if (entries === undefined) {
      if (this.#pending.length > bounds.event)
        throw new GatewayError('upstream_failed', 'An entry of the response is too large.');
      return { before: '', entries: [], after: '' };
    }
    this.#pending = '';
    return { before, entries, after };
  }
}

function parseEntries(text: string): readonly JsonObject[] | undefined {
  try {
    return parseExact(`[${text}]`) as JsonObject[];
  } catch {
    return undefined;
  }
}
