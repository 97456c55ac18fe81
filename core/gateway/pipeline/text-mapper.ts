import type { TextBlocks } from '#core/config/catalog/reply-text.ts';

/** Changes one text that arrives in pieces. */
export interface TextMapper {
  /** Processes the next piece, and returns text for the client. */
  push(text: string): string;
  /** Ends the text and returns the buffered part. */
  end(): string;
}

/** A function on whole words, or a factory of mappers for each text. */
export type TextMap = ((words: string) => string) | { create(): TextMapper };

const maxWordLength = 64; // limits the delay of text in languages without spaces

class WordMapper implements TextMapper {
  readonly #map: (words: string) => string;
  #held = '';

  constructor(map: (words: string) => string) {
    this.#map = map;
  }

  push(text: string): string {
    const all = this.#held + text;
    const behindLastSpace = all.search(/\S*$/);
    const end = all.length - behindLastSpace > maxWordLength ? all.length : behindLastSpace;
    this.#held = all.slice(end);
    return end === 0 ? '' : this.#map(all.slice(0, end));
  }

  end(): string {
    const last = this.#held;
    this.#held = '';
    return last === '' ? '' : this.#map(last);
  }
}

/** Mappers of one answer, one for each of its texts. */
export class MappedBlocks implements TextBlocks {
  readonly #create: () => TextMapper;
  readonly #open = new Map<string, TextMapper>();
  readonly #totals = new Map<string, string>();

  constructor(map: TextMap) {
    this.#create = typeof map === 'function' ? () => new WordMapper(map) : () => map.create();
  }

  push(block: string, text: string): string {
    const existing = this.#open.get(block);
    const mapper = existing ?? this.#create();
    if (existing === undefined) this.#open.set(block, mapper);
    return this.#add(block, mapper.push(text));
  }

  end(block: string): string {
    const mapper = this.#open.get(block);
    this.#open.delete(block);
    return mapper === undefined ? '' : this.#add(block, mapper.end());
  }

  total(block: string): string {
    return this.#totals.get(block) ?? '';
  }

  #add(block: string, text: string): string {
    if (text !== '') this.#totals.set(block, this.total(block) + text);
    return text;
  }
}
